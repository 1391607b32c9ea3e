"""One collection's pages: made, set up, published, followed, finished, kept."""
