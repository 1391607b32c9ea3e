"""The requester's pages of corpora: which there are, what is in one, and uploads of documents."""
