project = "A live page"
extensions = ["myst_nb", "press.live"]
html_theme = "sphinx_book_theme"
nb_execution_mode = "off"
