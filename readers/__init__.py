"""Readers of questions: they learn from official files and released folders, and answer them."""
