"""Print the book and make slides from its finished pages, with Chromium."""
