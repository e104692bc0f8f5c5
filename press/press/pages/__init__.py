"""Turn the texts of the pages into notebooks, exercises and downloads."""
