"""A section as a seed: its first text is the article's first paragraph, the rest the section."""

from collections.abc import Sequence


def section_text(texts: Sequence[str]) -> str:
    """Return the section's text, to which every offset refers: its paragraphs, a blank between.

    texts: those of the seed's paragraphs in order, the background first.
    """
    return " ".join(texts[1:])
