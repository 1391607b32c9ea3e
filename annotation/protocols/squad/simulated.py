"""Simulated workers: they ask what stands between quoted words, and answer such questions."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tasks.simulation.gaps import INVENTED, gap
from tasks.work.widgets import spans

if TYPE_CHECKING:
    from tasks.simulation.behaviour import Behaviour
    from tasks.simulation.worker import Opener

# Simulated workers who answer look for the quoted words.
ASKED = (
    "What stands between “{left}” and “{right}”?",
    "What does the text say after “{left}” and before “{right}”?",
)
QUOTED = re.compile("“([^”]+)”")
NONSENSE = "Tell me something nice, number {number}, about this please?"
REASON = "It makes no sense to me."
# Tokens quoted on each side of an answer.
AROUND = 3


def fill(
    page: Mapping[str, object], behaviour: "Behaviour", rng: random.Random, open_article: "Opener"
) -> dict[str, object]:
    """Return the data that the page would send: it passes the protocol's checks.

    Careful workers give the same answer to the same question, whatever their `rng`. They open no
    articles.
    """
    items: Any = page["items"]
    if page["kind"] == "span_question":
        return {"questions": _write(items, behaviour, rng)}
    return {"answers": [_answer(item, behaviour, rng) for item in items]}


def _write(
    items: Sequence[Mapping[str, Any]], behaviour: "Behaviour", rng: random.Random
) -> list[dict[str, Any]]:
    """Return a question for each item, with the words that answer it or only seem to."""
    questions, asked = [], set()
    for number, item in enumerate(items):
        passage = item["paragraphs"][0]
        left, words, right, _ = gap(passage, rng, AROUND)
        if item["type"] == "none":
            right = rng.choice(INVENTED)
        text = rng.choice(ASKED).format(left=left, right=right)
        if rng.random() < behaviour.nonsense or text in asked:
            text = NONSENSE.format(number=rng.randrange(1000) * len(items) + number)
        asked.add(text)
        span = _span(passage, *words)
        questions.append({"item": item["id"], "text": text, "type": "span", "spans": [span]})
    return questions


def _answer(item: Mapping[str, Any], behaviour: "Behaviour", rng: random.Random) -> dict[str, Any]:
    blank = {"item": item["id"], "spans": [], "reason": ""}
    if rng.random() < behaviour.gives_up:
        return {**blank, "type": "none"}
    passage = item["paragraphs"][0]
    if rng.random() < max(behaviour.wrong_answer, behaviour.nonsense):
        return {
            **blank,
            "type": "span",
            "spans": [_span(passage, *gap(passage, rng, AROUND).words)],
        }
    quoted = QUOTED.findall(item["question"])
    if len(quoted) != 2:
        return {**blank, "type": "bad", "reason": REASON}
    span = _between(passage, *quoted)
    return {**blank, "type": "span", "spans": [span]} if span else {**blank, "type": "none"}


def _between(passage: Mapping[str, Any], left: str, right: str) -> dict[str, Any] | None:
    """Return the shortest span between two quotes of the passage; None if there is none."""
    pattern = re.compile(f"(?={re.escape(left)}(.+?){re.escape(right)})", re.DOTALL)
    places = [found.span(1) for found in pattern.finditer(passage["text"])]
    if not places:
        return None
    start, end = min(places, key=lambda place: place[1] - place[0])
    tokens = passage["tokens"]
    words = [at for at, token in enumerate(tokens) if start <= token[0] and token[1] <= end]
    kept = spans.whole(passage["text"], tokens, words[0], words[-1]) if words else None
    return _span(passage, tokens[kept[0]][0], tokens[kept[1]][1]) if kept else None


def _span(passage: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    return {"document": passage["document"], "start": start, "end": end}
