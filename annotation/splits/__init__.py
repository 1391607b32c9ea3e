"""Which fold and split a question is in: planned folds, assignment, and judged difficulty."""
