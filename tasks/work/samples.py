"""What a preview shows of the work: a protocol's own invented text, attempted well and badly."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from collector.protocols.loading import ProtocolError, get_protocol, wrong_values

LINK = re.compile(r"\[([^\]]+)\]")
LOOKS = {"evidence": "evidence", "answer": "answer-mark", "link": "link picked"}
NUMBER = re.compile(r"\d+")


class Part(BaseModel):
    """A table of samples.toml: an unknown key refuses to load."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Text(Part):
    """A text of the sample: with [links], or as sentences that are numbered through all texts."""

    title: str
    text: str = ""
    sentences: list[str] = []


class Step(Part):
    """One step of an attempt: words that are written, or the place in a text that is marked."""

    label: str
    words: str
    mark: Literal["", "evidence", "answer", "link", "fact"] = ""


class Attempt(Part):
    """How somebody did the sample, and why that is good or bad."""

    good: bool
    why: str
    steps: list[Step] = Field(min_length=1)


class Sample(Part):
    """One worked sample: its texts, and attempts of which some are good and some are bad."""

    texts: list[Text] = Field(min_length=1)
    attempts: list[Attempt]

    @model_validator(mode="after")
    def _good_and_bad(self) -> "Sample":
        if {attempt.good for attempt in self.attempts} != {True, False}:
            raise ValueError("a sample has a good and a bad attempt")
        for attempt in self.attempts:
            for step in attempt.steps:
                if step.mark and not _is_there(step, self.texts):
                    raise ValueError(f"“{step.words}” stands in no text of the sample")
        return self


@dataclass(frozen=True)
class Piece:
    """Words of a text that are marked alike; step counts from 1, 0 for none."""

    words: str
    look: str
    step: int


@dataclass(frozen=True)
class Line:
    """A sentence with its number, or a whole text with the number 0."""

    number: int
    picked_in: int
    pieces: list[Piece]


def sample_of(protocol: str, kind: str) -> dict[str, Any] | None:
    """Return the sample of a protocol for a kind of stage as a page shows it, None without one.

    Raises ProtocolError, naming the file, for a sample that cannot be shown.
    """
    folder = get_protocol(protocol)
    raw = folder.samples().get(kind)
    if raw is None:
        return None
    try:
        sample = Sample.model_validate(raw)
    except ValidationError as error:
        path = folder.folder / "samples.toml"
        raise ProtocolError(f"{path}: {kind}: {wrong_values(error)}") from None
    return {"attempts": [_shown(attempt, sample.texts) for attempt in sample.attempts]}


def _shown(attempt: Attempt, texts: list[Text]) -> dict[str, Any]:
    shown, number = [], 0
    free = list(enumerate(attempt.steps, 1))
    for text in texts:
        lines = []
        for sentence in text.sentences or [text.text]:
            number += bool(text.sentences)
            at = number if text.sentences else 0
            # The step that picks the sentence as proof, 0 where none does.
            proofs = (
                place
                for place, step in enumerate(attempt.steps, 1)
                if step.mark == "fact" and str(at) in NUMBER.findall(step.words)
            )
            lines.append(Line(at, next(proofs, 0), _pieces(sentence, free)))
        shown.append({"title": text.title, "lines": lines})
    return {"good": attempt.good, "why": attempt.why, "steps": attempt.steps, "texts": shown}


def _pieces(written: str, steps: list[tuple[int, Step]]) -> list[Piece]:
    """Return the text cut where links and marks begin and end; a mark stands in one text alone."""
    plain = LINK.sub(r"\1", written)
    # Where the links stand once their brackets are gone.
    found = enumerate(LINK.finditer(written))
    links = [(one.start() - 2 * number, one.end() - 2 * number - 2) for number, one in found]
    marks = []
    for number, step in list(steps):
        start = plain.find(step.words) if step.mark in LOOKS else -1
        if start >= 0:
            marks.append(((start, start + len(step.words)), LOOKS[step.mark], number))
            steps.remove((number, step))
    places = [*links, *(place for place, _, _ in marks)]
    cuts = sorted({0, len(plain), *(at for place in places for at in place)})
    pieces = []
    for start, end in pairwise(cuts):
        over = [mark for mark in marks if mark[0][0] <= start and end <= mark[0][1]]
        look = {word for _, words, _ in over for word in words.split()}
        look |= {"link"} if any(first <= start and end <= last for first, last in links) else set()
        last_step = over[-1][2] if over else 0
        pieces.append(Piece(plain[start:end], " ".join(sorted(look)), last_step))
    return pieces


def _is_there(step: Step, texts: list[Text]) -> bool:
    if step.mark == "fact":
        count = sum(len(text.sentences) for text in texts)
        numbers = NUMBER.findall(step.words)
        return bool(numbers) and all(1 <= int(number) <= count for number in numbers)
    written = [line for text in texts for line in (text.sentences or [text.text])]
    if step.mark == "link":
        return any(f"[{step.words}]" in line for line in written)
    return any(step.words in LINK.sub(r"\1", line) for line in written)
