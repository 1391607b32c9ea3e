"""What a plausible worker would type: questions about whom a summary names, answers from it."""

import random
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tasks.simulation.behaviour import Behaviour
    from tasks.simulation.work_page import Opener

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
    form = _question if page["kind"] == "text" else _answer
    return {
        "entries": [{"item": item["id"], "fields": form(item, behaviour, rng)} for item in items]
    }


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
