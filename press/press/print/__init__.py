"""The book on paper and on slides, made from its finished pages by Chromium."""
