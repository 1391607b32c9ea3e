"""Real validators' answers, read from official files, given once more in their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from annotation.protocols.quac.layout import AFFIRMATION, CANNOT_ANSWER, others_of
from tasks.simulation.identity import mark_answers_synthetic, mark_fields_synthetic
from tasks.widgets.reply import SECTION

AFFIRMATIONS = {value: name for name, value in AFFIRMATION.items()}
# The files hold the teacher's alone, and a page wants one of everybody.
NEVER_KNOWN = ("affirmation",)


@dataclass
class Validators:
    """Who validates which dialog, in the order they come; used by several threads.

    A file may hold fewer answers to one question of a dialog than to another. Whoever has none of
    their own to give then repeats the teacher's, and that answer is marked as made up. So is what
    everybody says beside the words: a file tells that of the teacher alone.
    """

    _lock: Lock = field(default_factory=Lock)
    _came: dict[Any, list[str]] = field(default_factory=dict)
    _made_up: dict[str, set[int]] = field(default_factory=dict)

    def answers(
        self, page: Mapping[str, Any], place: Any, questions: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return an answer to each question that the page shows, those given before as they are."""
        with self._lock:
            came = self._came.setdefault(place, [])
            if page["token"] not in came:
                came.append(page["token"])
            number = came.index(page["token"])
        return [
            step["own"] or self._answer(page["token"], number, int(step["item"]), questions)
            for step in page["ordered_answers"]
        ]

    def _answer(
        self, token: str, number: int, turn: int, questions: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        question = questions[turn]
        others = others_of(question)
        if number < len(others):
            given = others[number]
        else:
            given = question["orig_answer"]
            self._made_up.setdefault(token, set()).add(turn)
        start, text = given["answer_start"], given["text"]
        span = {"document": SECTION, "start": start, "end": start + len(text), "text": text}
        found = text != CANNOT_ANSWER
        return {
            "item": str(turn),
            "type": "span" if found else "none",
            "spans": [span] if found else [],
            "affirmation": AFFIRMATIONS[question["yesno"]] if found else "neither",
        }

    def mark_made_up(self) -> None:
        """Mark what was made up, once it has been handed in."""
        for token in [token for came in self._came.values() for token in came]:
            mark_fields_synthetic(token, NEVER_KNOWN)
        for token, turns in self._made_up.items():
            mark_answers_synthetic(token, turns)
