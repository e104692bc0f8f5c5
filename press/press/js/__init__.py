"""Scripts of the pages, and Python for the browser."""
