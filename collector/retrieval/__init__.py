"""Finds paragraphs by their words: first ones by hashed bigrams, all of them by their terms."""
