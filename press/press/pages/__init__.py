"""Turn the text of the pages into notebooks, exercises and downloads: the first step of the book."""
