"""Models that answer questions from a pair of paragraphs."""
