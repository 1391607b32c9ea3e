"""Pages of pairs as a worker gets them, made without a database."""

from collections.abc import Iterable, Sequence
from typing import Any

from collector.ingest.segmentation import split, tokens
from collector.protocols.loading import get_protocol

PARAMETERS: Any = get_protocol("hotpotqa").parameters()
# Two paragraphs of an island that is on no map.
LEDGER = (
    "The Salt Ledger (novel)",
    "The Salt Ledger is a novel by Ivo Tansley. It was printed in Carrow in 1931 and reprinted "
    "twice by Fleam Press. Its keeper of the light was drawn from Nessa Crake.",
)
TANSLEY = (
    "Ivo Tansley",
    "Ivo Tansley was a novelist from Sallow Haven. Before he wrote he trained as a pilot on the "
    "River Fleam with Captain Edmund Orrin in 1919. He wrote The Salt Ledger and died in 1950.",
)


def paragraph(
    document: int, title: str, text: str, sentences: Sequence[Sequence[int]] | None = None
) -> dict[str, Any]:
    """Return one paragraph as the page has it."""
    return {
        "document": str(document),
        "title": title,
        "text": text,
        "lang": "en",
        "dir": "ltr",
        "sentences": [list(one) for one in sentences or split(text, "en")],
        "tokens": [
            [start, end, any(map(str.isalnum, text[start:end]))]
            for start, end in tokens(text, "en")
        ],
    }


def item(
    number: int = 0,
    kind: str = "bridge",
    form: str = "any",
    pair: Iterable[tuple[str, str]] = (LEDGER, TANSLEY),
) -> dict[str, Any]:
    """Return one item of a page of pairs."""
    paragraphs = [paragraph(at, *one) for at, one in enumerate(pair)]
    return {"id": str(number), "type": kind, "form": form, "paragraphs": paragraphs}


def page(items: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the state of a page of pairs."""
    limits = {"max_skips": PARAMETERS.question.max_skips, "max_answer_words": 30}
    return {"kind": "pair", "limits": limits, "items": items}
