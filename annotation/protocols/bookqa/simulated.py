"""What a plausible worker would type: questions about whom a summary names, answers, labels."""

import random
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tasks.simulation.behaviour import Behaviour
    from tasks.simulation.worker import Opener

_SENTENCE = re.compile(r"[^.!?]+[.!?]?")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_ASKED = (
    "What becomes of {name} in the story?",
    "What does {name} want most of all?",
    "Whom does {name} meet?",
    "Why is {name} in trouble?",
    "Where does the story take {name}?",
)
# Shorter than what counts as copied.
ANSWER_WORDS = 4
NONSENSE = "a good story"


def fill(
    page: Mapping[str, object], behaviour: "Behaviour", rng: random.Random, open_article: "Opener"
) -> dict[str, object]:
    """Return the data that the page would send; the hasty doubt what can be answered."""
    items = cast(list[Mapping[str, Any]], page["items"])
    if page["kind"] == "label":
        limits = cast(Mapping[str, Any], page["limits"])
        facets = [field for field in limits["fields"] if field["choices"]]
        labelled = [(item["id"], _labels(item, facets, behaviour, rng)) for item in items]
        return {"entries": [{"item": item, "fields": fields} for item, fields in labelled]}
    form = _question if page["kind"] == "text" else _answer
    return {
        "entries": [{"item": item["id"], "fields": form(item, behaviour, rng)} for item in items]
    }


def right_label(text: str, facet: str, labels: Sequence[str]) -> str:
    """Return the label that careful labellers give a question: they all see the same one."""
    return labels[zlib.crc32(f"{facet}\n{text}".encode()) % len(labels)]


def _labels(
    item: Mapping[str, Any],
    facets: Sequence[Mapping[str, Any]],
    behaviour: "Behaviour",
    rng: random.Random,
) -> dict[str, str]:
    """Return a label for each facet, another than the right one as often as answers are wrong."""
    found = {"note": ""}
    for facet in facets:
        labels = [choice["value"] for choice in facet["choices"]]
        right = right_label(item["text"], facet["name"], labels)
        errs = rng.random() < max(behaviour.nonsense, behaviour.wrong_answer)
        others = [label for label in labels if label != right]
        found[facet["name"]] = rng.choice(others) if errs else right
    return found


def _question(
    item: Mapping[str, Any], behaviour: "Behaviour", rng: random.Random
) -> dict[str, str]:
    summary = item["passage"]["text"]
    name = rng.choice(_NAME.findall(summary) or [item["passage"]["title"].split()[0]])
    return {"question": rng.choice(_ASKED).format(name=name), "answer": _words(summary, rng)}


def _answer(item: Mapping[str, Any], behaviour: "Behaviour", rng: random.Random) -> dict[str, str]:
    doubts = rng.random() < behaviour.gives_up
    anything = rng.random() < behaviour.nonsense
    return {
        "answer": NONSENSE if anything else _words(item["passage"]["text"], rng),
        "doubt": "It does not say." if doubts else "",
    }


def _words(summary: str, rng: random.Random) -> str:
    """Return a few words of a sentence of the summary."""
    sentences = [each.split() for each in _SENTENCE.findall(summary)]
    words = rng.choice([each for each in sentences if len(each) >= ANSWER_WORDS] or [["Nothing"]])
    first = rng.randrange(max(1, len(words) - ANSWER_WORDS + 1))
    return " ".join(words[first : first + ANSWER_WORDS]).strip(" ,.;")
