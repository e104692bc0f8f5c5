"""Pages: their texts, notebooks and exercises, and what readers take along."""
