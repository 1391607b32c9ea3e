"""A whole collection's work, kept in one private file and done again through the real pages."""
