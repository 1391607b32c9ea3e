"""The hyperlink graph over the first paragraphs of a corpus, in one memory-mapped file."""
