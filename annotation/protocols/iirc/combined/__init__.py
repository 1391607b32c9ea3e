"""IIRC beside questions that need nothing more than their paragraph (IIRC 5)."""
