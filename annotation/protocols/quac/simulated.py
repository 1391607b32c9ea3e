"""What a plausible worker would type into a page."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.protocols.quac.replay import replay
from annotation.protocols.quac.talking import answer, speak
from tasks.simulation.behaviour import Behaviour
from tasks.simulation.worker import Opener
from tasks.work.widgets.reply import passages_of

__all__ = ["fill", "inspect", "replay", "speak"]
OPENINGS = (
    "What happened to {subject} in the part “{heading}”?",
    "How did {heading} begin for {subject}?",
    "Why is {subject} remembered for {heading}?",
    "Who else was with {subject} in {heading}?",
    "When did {heading} come to an end for {subject}?",
)
# A qualification with more answers that the section does not support is declined.
MOST_SLIPS = 1


def fill(
    page: Mapping[str, object], behaviour: Behaviour, rng: random.Random, open_article: Opener
) -> dict[str, object]:
    """Return the data that the page would send: it passes the protocol's checks.

    Of a dialog's questions those are answered that the page shows; given answers stay.
    """
    items: Any = page["items"]
    if page["kind"] == "text":
        return {"entries": [_asked(item, behaviour, rng) for item in items]}
    ordered_answers: Any = page["ordered_answers"]
    limits: Any = page["limits"]
    passages = passages_of(items)
    return {
        "answers": [
            step["own"]
            or {
                "item": step["item"],
                **answer(
                    step["question"],
                    passages[step["item"]],
                    _answered_before(ordered_answers),
                    behaviour,
                    rng,
                    max_tokens=limits["max_span_tokens"],
                ),
            }
            for step in ordered_answers
        ]
    }


def inspect(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    open_article: Opener,
) -> tuple[bool, str]:
    """Return whether a qualification submission passes, and the note for its worker."""
    sent: Any = data
    if kind == "text":
        texts = [next(iter(entry["fields"].values())) for entry in sent["entries"]]
        slips = sum(len(text.split()) < 3 for text in texts)
        advice = "Ask whole questions that the section could answer."
    else:
        passages = passages_of(items)
        slips = sum(not _fits(given["spans"], passages[given["item"]]) for given in sent["answers"])
        advice = "Mark a passage that begins and ends with a whole word."
    return (True, "Does what the instructions ask.") if slips <= MOST_SLIPS else (False, advice)


def _asked(item: Mapping[str, Any], behaviour: Behaviour, rng: random.Random) -> dict[str, Any]:
    passage = item["passage"]
    heading = passage["about"] or passage["title"]
    # A question names its subject, so that those of one page differ.
    text = rng.choice(OPENINGS).format(subject=passage["title"], heading=heading)
    if rng.random() < behaviour.nonsense:
        text = f"x{rng.randrange(10**6)}?"
    return {"item": item["id"], "fields": {"question": text}}


def _answered_before(ordered_answers: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return where the teacher's answers to the questions before began."""
    teachers = [step["teacher"] for step in ordered_answers if step["teacher"]]
    return [span["start"] for teacher in teachers for span in teacher["spans"]]


def _fits(spans: Sequence[Mapping[str, Any]], passage: Mapping[str, Any]) -> bool:
    """Return whether every span begins and ends where a token does."""
    starts = {start for start, *_ in passage["tokens"]}
    ends = {end for _, end, _ in passage["tokens"]}
    return all(span["start"] in starts and span["end"] in ends for span in spans)
