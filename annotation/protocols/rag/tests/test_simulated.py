"""What simulated readers hand in passes the page's checks."""

import random

from annotation.protocols.rag.simulated import fill
from tasks.simulation.behaviour import BEHAVIOURS


def test_whoever_finds_nothing_has_searched_as_often_as_the_page_asks() -> None:
    asked = ["What do the documents say about “Quarn”?", "What stands between “a” and “b”?"]
    page = {
        "kind": "search_answer",
        "items": [{"id": text, "question": text} for text in asked],
        "limits": {"min_searches": 3},
    }
    for behaviour in BEHAVIOURS.values():
        told = fill(page, behaviour, random.Random(1), lambda item, name: {"results": []})
        for answer in told["answers"]:
            assert answer["type"] == "none"
            assert len(set(answer["searches"])) >= 3
