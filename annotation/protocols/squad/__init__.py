"""SQuAD 2.0: questions about a passage, answered by words of it, or by nothing in it."""
