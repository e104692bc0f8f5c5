"""Print the book and make slides and exercise sheets with Chromium, from the finished pages."""
