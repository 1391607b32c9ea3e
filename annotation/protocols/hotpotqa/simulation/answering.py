"""Answers of simulated readers: they look for what a question quotes."""

import random
import re
from collections.abc import Mapping
from typing import Any

from annotation.protocols.hotpotqa.simulation.comprehension import (
    any_words,
    has_year,
    mention,
    own_name,
    year_fact,
)
from tasks.simulation.behaviour import Behaviour

QUOTED = re.compile("“([^”]+)”")


def answer(item: Mapping[str, Any], behaviour: Behaviour, rng: random.Random) -> dict[str, Any]:
    """Return the answer to an item's question, with its facts; careful readers agree."""
    first, second = item["paragraphs"]
    found = _between(item) or _said_of(item) or _yes_no(item)
    if found is None or rng.random() < max(behaviour.wrong_answer, behaviour.nonsense):
        facts = [[int(one["document"]), 0] for one in (first, second)]
        return {"item": item["id"], **any_words(rng.choice((first, second)), rng), "facts": facts}
    given, facts = found
    return {"item": item["id"], "spans": [], **given, "facts": facts}


Answered = tuple[dict[str, Any], list[list[int]]]


def _between(item: Mapping[str, Any]) -> Answered | None:
    """Return what stands between the two pieces that the question quotes."""
    quoted = QUOTED.findall(item["question"])
    if len(quoted) != 2:
        return None
    for here, there in _ways(item):
        start, end = here["text"].find(quoted[0]), -1
        if start >= 0:
            start += len(quoted[0])
            end = here["text"].find(quoted[1], start)
        words = [one for one in here["tokens"] if start <= one[0] and one[1] <= end]
        if words:
            span = {"document": here["document"], "start": words[0][0], "end": words[-1][1]}
            facts = [
                _holding(here, words[0][0]),
                [int(there["document"]), mention(there, here["title"])],
            ]
            return {"type": "span", "spans": [span]}, facts
    return None


def _said_of(item: Mapping[str, Any]) -> Answered | None:
    """Return the name of what the one quoted piece is said of."""
    quoted = QUOTED.findall(item["question"])
    for here, there in _ways(item) if len(quoted) == 1 else ():
        # Its white space was made even.
        pattern = r"\s+".join(map(re.escape, quoted[0].split()))
        match = re.search(pattern, here["text"])
        if match:
            start, end = own_name(here)
            span = {"document": here["document"], "start": start, "end": end}
            facts = [_holding(here, match.start()), [int(there["document"]), 0]]
            return {"type": "span", "spans": [span]}, facts
    return None


def _yes_no(item: Mapping[str, Any]) -> Answered | None:
    if not item["question"].startswith("Do the texts"):
        return None
    given = "yes" if all(map(has_year, item["paragraphs"])) else "no"
    return {"type": given}, [year_fact(one) for one in item["paragraphs"]]


def _ways(item: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    first, second = item["paragraphs"]
    return [(first, second), (second, first)]


def _holding(paragraph: Mapping[str, Any], at: int) -> list[int]:
    """Return the sentence that holds a place, as a fact."""
    ends = [end for _, end in paragraph["sentences"]]
    return [int(paragraph["document"]), sum(end <= at for end in ends[:-1])]
