"""Cuts a text into tokens with spaCy's blank pipeline for its language."""

from collector.ingest.sentences import pipeline


def tokenizer() -> str:
    """Return the name under which counts of tokens are stored: the library's version."""
    import spacy

    return f"spacy-{spacy.__version__}"


def tokens(text: str, language: str) -> list[tuple[int, int]]:
    """Return (start, end) of every token in code points; white space is none."""
    document = pipeline(language).make_doc(text)
    return [(token.idx, token.idx + len(token.text)) for token in document if not token.is_space]


def n_tokens(text: str, language: str) -> int:
    """Return how many tokens `tokens` would give, without making them."""
    document = pipeline(language).make_doc(text)
    return len(document) - int(document.to_array("IS_SPACE").sum())
