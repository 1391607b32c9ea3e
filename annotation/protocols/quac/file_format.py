"""The v0.2 layout: names of things in the official files, and ids from content (QuAC 2.1)."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid5

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
