"""Real dialogs, read from official files, held once more by two partners, word for word."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.protocols.quac.layout import (
    AFFIRMATION,
    CANNOT_ANSWER,
    CONTINUATION,
    LayoutError,
    context_of,
    others_of,
)
from annotation.protocols.quac.published import read
from annotation.protocols.quac.simulation.validating import Validators
from tasks.simulation.replay import RealWork

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


@dataclass(frozen=True)
class Spoken:
    """A dialog of the file: its section, and its questions as they stand there."""

    title: str
    heading: str
    background: str
    text: str
    questions: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Replay(RealWork):
    """The dialogs of one file, one about each section."""

    dialogs: tuple[Spoken, ...]
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
    found: dict[tuple[str, str], Spoken] = {}
    for section in read(path.name, content):
        place = section["title"], section.get("section_title", "")
        if not section.get("background") or not place[1]:
            raise LayoutError(f"{path.name}: {place[0]} has no background or no section_title.")
        for dialog in section["paragraphs"][:1]:
            text = dialog["context"].removesuffix(context_of(""))
            spoken = Spoken(*place, section["background"], text, tuple(dialog["qas"]))
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
