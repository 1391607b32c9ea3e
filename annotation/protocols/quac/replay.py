"""Real dialogs, read from official files, held and validated once more, word for word."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from annotation.protocols.quac.file_format import (
    AFFIRMATION,
    CANNOT_ANSWER,
    CONTINUATION,
    LayoutError,
    context_of,
    others_of,
    read,
)
from tasks.simulation.identity import mark_answers_synthetic, mark_fields_synthetic
from tasks.simulation.simulated_contract import RealWork
from tasks.work.widgets.reply import SECTION

LAX = {
    "seeds.category_keywords": [],
    "seeds.min_incoming_links": 0,
    "seeds.persons_by": "anything",
    "seeds.min_tokens": 1,
    "seeds.max_tokens": 100_000,
    "seeds.min_words_per_sentence": 0,
    "seeds.max_words_per_sentence": 10_000,
    "seeds.max_background_characters": 100_000,
    # Everybody plays a part that is written down: nobody has to qualify for it.
    "dialog.requires_student": "",
    "dialog.requires_teacher": "",
    "validation.requires": "",
}
ACTS = {
    "continuation": {value: name for name, value in CONTINUATION.items()},
    "affirmation": {value: name for name, value in AFFIRMATION.items()},
}
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


@dataclass(frozen=True)
class RealDialog:
    """A dialog of the file: its section, and its questions as they stand there."""

    title: str
    heading: str
    background: str
    text: str
    questions: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Replay(RealWork):
    """The dialogs of one file, one about each section."""

    dialogs: tuple[RealDialog, ...]
    validators: Validators = field(default_factory=Validators)
    stages = ("dialog", "validation")

    @property
    def n_seeds(self) -> int:
        """Return how many sections there are."""
        return len(self.dialogs)

    def kinds_of(self, number: int) -> tuple[str, ...]:
        """Return the kinds of stages that worker `number` works on."""
        return self.stages

    def overrides(self) -> dict[str, Any]:
        """Return the parameters of a collection that asks for each dialog once.

        It has as many validators as the file's best answered question.
        """
        folds = ("train", "dev", "test")
        once = {f"dialog.redundancy.{fold}": 1 for fold in folds}
        most = {f"validation.redundancy.{fold}": self.n_validators for fold in folds}
        return {**LAX, **once, **most}

    @property
    def n_validators(self) -> int:
        """Return how many validators the dialogs of the file had at most."""
        questions = (question for dialog in self.dialogs for question in dialog.questions)
        return max((len(others_of(question)) for question in questions), default=0)

    def cost_cents(self, parameters: Any) -> int:
        """Return a budget that is ample: partners may come for nothing now and then."""
        table = parameters.dialog
        turns = sum(table.turn_cents) + table.turn_cents[-1] * table.max_questions
        waits = table.wait_minutes * table.wait_cents_per_minute
        votes = self.n_validators * parameters.validation.reward_cents
        return 10 * (self.n_seeds + 1) * (table.reward_cents + turns + waits + votes)

    def pages(self) -> list[tuple[str, list[tuple[str, str, list[list[Any]]]]]]:
        """Return the corpus: (title, paragraphs), each a heading, a text and no links."""
        pages: dict[str, list[tuple[str, str, list[list[Any]]]]] = {}
        for dialog in self.dialogs:
            page = pages.setdefault(dialog.title, [("", dialog.background, [])])
            page.append((dialog.heading, dialog.text, []))
        return list(pages.items())

    def speak(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the real partner said at this point of the dialog."""
        questions = self._said_about(state["title"], state["heading"])
        turns = state["turns"]
        if state["role"] == "teacher":
            return _reply(questions[len(turns) - 1])
        if len(turns) == len(questions):
            return {"type": "end"}
        return {"type": "ask", "text": questions[len(turns)]["question"]}

    def fill(
        self, page: Mapping[str, Any], behaviour: Any, rng: random.Random, open_article: Any
    ) -> tuple[dict[str, Any], bool]:
        """Return what a real validator of the dialog answered; what was made up is marked later.

        Raises ValueError for a page of another kind: the files hold nothing else.
        """
        if page["kind"] != "validation":
            raise ValueError(f"No {page['kind']} HIT can be done again from dialogs.")
        passage = page["items"][0]["passage"]
        place = passage["title"], passage["section"]
        return {"answers": self.validators.answers(page, place, self._said_about(*place))}, True

    def finish(self) -> None:
        """Mark what the file does not hold, when all of it has been handed in."""
        self.validators.mark_made_up()

    def _said_about(self, title: str, heading: str) -> tuple[Mapping[str, Any], ...]:
        for dialog in self.dialogs:
            if (dialog.title, dialog.heading) == (title, heading):
                return dialog.questions
        raise ValueError(f"The file has no dialog about “{heading}” of {title}.")


def replay(path: Path) -> Replay:
    """Return the dialogs of an official file; raises LayoutError naming the file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LayoutError(f"{path}: it cannot be read ({error.strerror}).") from None
    found: dict[tuple[str, str], RealDialog] = {}
    for section in read(path.name, content):
        place = section["title"], section.get("section_title", "")
        if not section.get("background") or not place[1]:
            raise LayoutError(f"{path.name}: {place[0]} has no background or no section_title.")
        for dialog in section["paragraphs"][:1]:
            text = dialog["context"].removesuffix(context_of(""))
            spoken = RealDialog(*place, section["background"], text, tuple(dialog["qas"]))
            # Another dialog about the same section would need to know which of them it is.
            found.setdefault(place, spoken)
    if not found:
        raise LayoutError(f"{path.name}: there are no dialogs in it.")
    return Replay(tuple(found.values()))


def _reply(question: Mapping[str, Any]) -> dict[str, Any]:
    answer = question["orig_answer"]
    start: int | None = answer["answer_start"]
    end: int | None = answer["answer_start"] + len(answer["text"])
    if answer["text"] == CANNOT_ANSWER:
        start = end = None
    return {
        "type": "answer",
        "start": start,
        "end": end,
        "continuation": ACTS["continuation"][question["followup"]],
        "affirmation": ACTS["affirmation"][question["yesno"]],
    }
