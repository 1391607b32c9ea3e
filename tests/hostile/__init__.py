"""Visitors who want to break the pages, the API, the sockets, the marketplace and the commands."""
