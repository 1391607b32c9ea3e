"""The requester's pages."""
