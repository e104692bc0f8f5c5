"""Build the scripts of the pages, and Python for the browser."""
