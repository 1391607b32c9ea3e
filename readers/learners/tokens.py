"""Words of a text as the papers' recurrent readers see them: spaCy's rules, without a model."""

from typing import NamedTuple

from common.language_pipelines import pipeline


class Token(NamedTuple):
    """A token and where in its text it stands, in code points."""

    text: str
    start: int
    end: int


def tokens(text: str, language: str = "en", *, spaces: bool = False) -> list[Token]:
    """Return the tokens of a text in order.

    spaces: keep runs of white space that the rules make tokens of.
    """
    return [
        Token(token.text, token.idx, token.idx + len(token.text))
        for token in pipeline(language).make_doc(text)
        if spaces or not token.is_space
    ]
