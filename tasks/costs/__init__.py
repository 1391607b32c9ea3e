"""What a collection has bound so far, and what it costs at most and as expected."""
