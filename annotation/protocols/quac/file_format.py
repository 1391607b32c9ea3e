"""The v0.2 layout: names in the official files, ids from content, files as records (QuAC 2.1)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid5

from annotation.records.json_items import load
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    published_vote,
)

CANNOT_ANSWER = "CANNOTANSWER"
FILES = {"train": "train_v0.2.json", "dev": "val_v0.2.json", "test": "test_v0.2.json"}
CONTINUATION = {"follow_up": "y", "maybe": "m", "dont": "n"}
AFFIRMATION = {"yes": "y", "no": "n", "neither": "x"}
NAMESPACE = UUID("0d1a7f0e-5b7f-4b36-8a0e-6d5f0c9f4a51")


class LayoutError(ValueError):
    """A file is not in the official layout; the message names the place and what to do."""


def context_of(section: str) -> str:
    """Return the section's text as the files have it, with the token of no answer at its end."""
    return f"{section} {CANNOT_ANSWER}"


def section_id(title: str, heading: str, text: str) -> str:
    """Return the part of a dialog's id that the dialogs about one section share."""
    return f"C_{uuid5(NAMESPACE, json.dumps([title, heading, text])).hex}"


def question_id(dialog: str, turn: int) -> str:
    """Return the id of the dialog's question number `turn`, from 0."""
    return f"{dialog}_q#{turn}"


def split_of(name: str) -> str:
    """Return the split that a file's name says; raises LayoutError when it says none."""
    words = PurePath(name).name.lower().replace("-", "_").replace(".", "_").split("_")
    for split, others in {"train": (), "dev": ("val", "valid"), "test": ()}.items():
        if {split, *others} & set(words):
            return split
    raise LayoutError(f"{name}: which part is it? Name it {', '.join(FILES.values())}.")


def others_of(question: Mapping[str, Any]) -> list[Any]:
    """Return the answers to an official question without the teacher's own, which is the last."""
    others = list(question["answers"])
    if question["orig_answer"] in others:
        # It stands among the references too: it is one vote, not two.
        del others[len(others) - 1 - others[::-1].index(question["orig_answer"])]
    return others


# The stages in which a teacher answers, and in which others answer the same questions again.
DIALOG, VALIDATION = "dialog", "validation"
ACTS = {
    "continuation": {value: name for name, value in CONTINUATION.items()},
    "affirmation": {value: name for name, value in AFFIRMATION.items()},
}


def read(name: str, content: bytes) -> Sequence[dict[str, Any]]:
    """Return the sections of one file; raises LayoutError naming file and place."""
    try:
        loaded = load(content)
    except (ValueError, RecursionError) as error:
        raise LayoutError(f"{name}: it is not valid JSON ({error}); write it again.") from None
    if not isinstance(loaded, dict) or loaded.keys() != {"data"}:
        raise LayoutError(f"{name}: it must be an object with the one key data.")
    if not isinstance(loaded["data"], Sequence):
        raise LayoutError(f"{name}: its data must be a list of sections.")
    for number, section in enumerate(loaded["data"]):
        _check(section, f"{name}: section {number}")
    sections: Sequence[dict[str, Any]] = loaded["data"]
    return sections


def seed_records(files: Mapping[str, bytes]) -> Iterator[SeedRecord]:
    """Yield a seed for every section object with its dialogs' questions, kept in their split."""
    for name, content in files.items():
        split = split_of(name)
        for number, section in enumerate(read(name, content)):
            yield seed_record(section, split, f"{split}/{number}")


def seed_record(section: Mapping[str, Any], split: str, key: str) -> SeedRecord:
    """Return the seed of one section object, its questions kept in `split`."""
    dialogs = section["paragraphs"]
    # What the file says of the section stays as it is; the questions have rows of their own.
    outline = {**section, "paragraphs": [{**dialog, "qas": []} for dialog in dialogs]}
    background, heading = section.get("background", ""), section.get("section_title", "")
    text = dialogs[0]["context"] if dialogs else ""
    return {
        "id": dialogs[0]["id"] if dialogs else key,
        "key": key,
        "fold": split,
        "payload": {
            "title": section["title"],
            "heading": heading,
            "background": background,
            IMPORTED: json.dumps(outline),
        },
        "passages": [
            {
                "title": section["title"],
                "section": heading,
                "text": text.removesuffix(f" {CANNOT_ANSWER}"),
                "links": [],
            }
        ],
        "questions": [
            _question(question, dialog["context"], split, f"{key}/{at}/{turn}", (at, turn))
            for at, dialog in enumerate(dialogs)
            for turn, question in enumerate(dialog["qas"])
        ],
    }


def _question(
    question: Mapping[str, Any], context: str, split: str, key: str, place: tuple[int, int]
) -> QuestionRecord:
    acts = {
        "continuation": ACTS["continuation"].get(question["followup"]),
        "affirmation": ACTS["affirmation"].get(question["yesno"]),
    }
    return {
        "id": question["id"],
        "key": key,
        "text": question["question"],
        "payload": {"dialog": place[0], "turn": place[1], IMPORTED: json.dumps(question)},
        "stage": DIALOG,
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED.copy(),
        "split": split,
        "votes": [
            _vote(question["orig_answer"], context, acts, chosen=True),
            *(_vote(answer, context, {}, chosen=False) for answer in others_of(question)),
        ],
    }


def _vote(
    answer: Mapping[str, Any], context: str, acts: Mapping[str, str | None], chosen: bool
) -> VoteRecord:
    start, text = answer["answer_start"], answer["text"]
    found = text != CANNOT_ANSWER
    span = {"document": "section", "start": start, "end": start + len(text), "text": text}
    return published_vote(
        "span" if found else "none",
        {"spans": [span] if found else [], **acts},
        stage=DIALOG if chosen else VALIDATION,
        chosen=chosen,
        agrees=chosen,
    )


def _check(section: Any, where: str) -> None:
    """Raise LayoutError unless the section has what every reader of the files relies on."""
    try:
        for number, dialog in enumerate(section["paragraphs"]):
            here = f"{where}, dialog {number}"
            _strings(dialog, ("id", "context"), here)
            for turn, question in enumerate(dialog["qas"]):
                place = f"{here}, question {turn}"
                _strings(question, ("id", "question", "yesno", "followup"), place)
                for answer in (question["orig_answer"], *question["answers"]):
                    _strings(answer, ("text",), place)
                    if not isinstance(answer["answer_start"], int):
                        raise LayoutError(f"{place}: answer_start must be a whole number.")
        _strings(section, ("title",), where)
    except (KeyError, TypeError) as error:
        raise LayoutError(f"{where}: {error} is missing or of the wrong kind.") from None


def _strings(record: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in names:
        if not isinstance(record[name], str):
            raise LayoutError(f"{where}: {name} must be a text.")
