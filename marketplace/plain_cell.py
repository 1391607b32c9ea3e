"""Keeps what strangers wrote from being a formula in somebody's spreadsheet."""


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula; for names that people choose."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
