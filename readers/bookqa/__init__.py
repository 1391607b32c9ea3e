"""Rankers and readers of the Book QA paper, and what tells the types of questions."""
