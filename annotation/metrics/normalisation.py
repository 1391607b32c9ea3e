"""The answer normalisation of the SQuAD scripts, which other official scorers share."""

import re
import string

WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLE = re.compile(r"\b(a|an|the)\b")


def normalise_answer(text: str) -> str:
    """Return `text` in lower case without ASCII punctuation, articles and superfluous blanks.

    The order is the official one and shows: punctuation vanishes before articles are looked
    for, so "the-a" becomes "thea" and stays (SQuAD v1.1).
    """
    return " ".join(answer_tokens(text))


def answer_tokens(text: str) -> list[str]:
    """Return the blank-separated tokens of the normalised `text`; none for a blank text."""
    return ARTICLE.sub(" ", text.lower().translate(WITHOUT_PUNCTUATION)).split()
