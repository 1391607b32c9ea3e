"""The official files: their names, what each holds, and ids from content (HotpotQA 3)."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from annotation.records.schema import PassageRecord

NAMESPACE = UUID("b2d3a6de-5a0f-4f0a-9f5f-0d1b8f3c7a64")
ID_DIGITS = 24
DISTRACTOR, FULL_WIKI = "distractor", "fullwiki"
TRAIN = ("train-easy", "train-medium", "train-hard")
HARD = "hard"


class File(NamedTuple):
    """An official file: its name, the splits that it holds, and the setting of its contexts."""

    name: str
    splits: tuple[str, ...]
    setting: str


# The authors distribute all but the fourth: see "Decisions of ours" in the README.
FILES = (
    File("hotpot_train_v1.1.json", TRAIN, DISTRACTOR),
    File("hotpot_dev_distractor_v1.json", ("dev",), DISTRACTOR),
    File("hotpot_dev_fullwiki_v1.json", ("dev",), FULL_WIKI),
    File("hotpot_test_distractor_v1.json", ("test-distractor",), DISTRACTOR),
    File("hotpot_test_fullwiki_v1.json", ("test-fullwiki",), FULL_WIKI),
)
SPLITS = (*TRAIN, "dev", "test-distractor", "test-fullwiki")
# Of these only questions and contexts are published (HotpotQA 3: a test set for each setting, so
# that what one shows says nothing about the other).
WITHHELD = {"test-distractor": (DISTRACTOR,), "test-fullwiki": (FULL_WIKI,)}


class LayoutError(ValueError):
    """A file is not in the official layout; the message names the place and what to do."""


def settings_of(split: str) -> list[str]:
    """Return the settings in which the split's questions are published."""
    return [file.setting for file in FILES if split in file.splits]


def level_of(split: str) -> str:
    """Return what the files say of a split's questions: easy, medium or hard."""
    return split.removeprefix("train-") if split in TRAIN else HARD


def question_id(text: str, number: int) -> str:
    """Return the id of the question that is the `number`-th, from 0, with this text.

    Nothing of the paragraphs is in it: of a withheld question nobody may find them by trying.
    """
    return uuid5(NAMESPACE, json.dumps([text, number])).hex[:ID_DIGITS]


def sentences_of(passage: PassageRecord) -> list[str]:
    """Return the sentences as released: each with the blank before it, together the whole text.

    Raises ValueError for a passage in which no sentences were looked for.
    """
    text, bounds = passage["text"], passage.get("sentences")
    if not bounds:
        raise ValueError(
            f"The sentences of {passage['title']!r} were never found: find the contexts again."
        )
    ends = [end for _, end in bounds[:-1]] + [len(text)]
    return [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def file_of(name: str, items: Sequence[Mapping[str, Any]]) -> File:
    """Return which official file this one is, by its name and what it holds.

    Raises LayoutError where neither says it.
    """
    words = set(re.split(r"[\W_]+", PurePath(name).name.lower()))
    labelled = {"answer" in item for item in items}
    if len(labelled) != 1:
        raise LayoutError(
            f"{name}: some questions have an answer and some have none; make two files of it."
        )
    part = next((part for part in ("train", "test") if part in words), "dev")
    if not labelled.pop() and part != "test":
        raise LayoutError(f"{name}: no question has an answer, as in a test file; name it so.")
    settings = {part: DISTRACTOR} if part == "train" else _settings(words)
    setting = settings.get(part) or (_setting_in(items) if part == "dev" else None)
    for file in FILES:
        if file.splits[0].startswith(part) and file.setting == setting:
            return file
    raise LayoutError(f"{name}: in which setting? Name it one of {', '.join(_names())}.")


def _settings(words: Iterable[str]) -> dict[str, str]:
    """Return the setting that the words of a file's name say, for dev and for test."""
    found = [setting for setting in (DISTRACTOR, FULL_WIKI) if setting in words]
    return dict.fromkeys(("dev", "test"), found[0]) if len(found) == 1 else {}


def _setting_in(items: Iterable[Mapping[str, Any]]) -> str:
    """Return the setting of labelled questions: only retrieval misses what answers them."""
    found = all(
        {title for title, _ in item["supporting_facts"]} <= {title for title, _ in item["context"]}
        for item in items
    )
    return DISTRACTOR if found else FULL_WIKI


def _names() -> list[str]:
    return [file.name for file in FILES]
