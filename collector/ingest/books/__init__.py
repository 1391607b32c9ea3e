"""Reads books: Project Gutenberg's texts, screenplays, and NarrativeQA's tables about them."""
