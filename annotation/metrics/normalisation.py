"""The answer normalisation of the SQuAD scripts, which other official scorers share."""

import re
import string

WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLE = re.compile(r"\b(a|an|the)\b")


def answer_tokens(text: str) -> list[str]:
    """Return the words of `text` in lower case without ASCII punctuation and articles.

    The order is the official one and shows: punctuation vanishes before articles are looked
    for, so "the-a" becomes "thea" and stays (SQuAD v1.1).
    """
    return ARTICLE.sub(" ", text.lower().translate(WITHOUT_PUNCTUATION)).split()
