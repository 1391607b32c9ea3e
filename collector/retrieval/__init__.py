"""Finds first paragraphs by their words: hashed bigram tf-idf and an inverted index of n-grams."""
