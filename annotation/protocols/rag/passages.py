"""The ids that passages have in released files: `DOCUMENT#POSITION`, without any blank."""

import re
from urllib.parse import quote

from annotation.records.schema import PassageRecord

# Fields of TREC's files are parted by blanks.
_BLANK = re.compile(r"[\s%]")


def passage_id(document: str, position: int) -> str:
    """Return the id of a passage by its document's own id and its place there, counted from 0.

    Blanks, and the percent sign itself, are written as in an address: `my%20file.txt#3`.
    """
    return _BLANK.sub(lambda blank: quote(blank.group()), f"{document}#{position}")


def document_of(passage: PassageRecord) -> str:
    """Return the id that the passage's document has from its owner, else its title."""
    return passage.get("document") or passage["title"]


def id_of(passage: PassageRecord) -> str:
    """Return the passage's released id."""
    return passage_id(document_of(passage), passage["position"])


def page_of(passage: PassageRecord, start: int) -> int | None:
    """Return the page on which the character at `start` stands; None where there are no pages."""
    return next(
        (page for begins, page in reversed(passage.get("pages") or []) if begins <= start), None
    )
