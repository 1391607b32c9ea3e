"""Says, while somebody writes, when one of two paragraphs alone gives the answer.

No model: a question needs both paragraphs when each of them knows a word of it that the other
does not. Fast enough for every pause in typing.
"""

from collections.abc import Sequence

from annotation.metrics.token_overlap import answer_tokens
from readers.light.words import content, stem

YES_NO = ("yes", "no")
# A paragraph that does not know so large a part of the question cannot answer it alone.
KNOWN = 0.85
MIN_WORDS = 3


def answers_alone(
    question: str, answer: str, titles: Sequence[str], texts: Sequence[str]
) -> int | None:
    """Return the place of the paragraph that seems to give the answer alone, None if none does.

    titles, texts: of the paragraphs, in one order. A yes or no is given by one paragraph alone
    when the question speaks of the other in no word.
    """
    asked = content(question) - {stem(word) for word in answer_tokens(answer)}
    if len(asked) < MIN_WORDS or not answer.strip():
        return None
    known = [content(f"{title}\n{text}") & asked for title, text in zip(titles, texts, strict=True)]
    for place, words in enumerate(known):
        others = set().union(*(known[:place] + known[place + 1 :]))
        enough = len(words) >= KNOWN * len(asked)
        if enough and not others - words and _gives(answer, texts[place]):
            if answer.strip().lower() in YES_NO and any(
                content(title) & asked for at, title in enumerate(titles) if at != place
            ):
                continue
            return place
    return None


def _gives(answer: str, text: str) -> bool:
    """Return whether the text holds the answer; a yes or no can come from any text."""
    if answer.strip().lower() in YES_NO:
        return True
    wanted = " ".join(answer_tokens(answer))
    return f" {wanted} " in f" {' '.join(answer_tokens(text))} "
