"""A requester's own documents: files of many formats, read into the articles of a corpus."""
