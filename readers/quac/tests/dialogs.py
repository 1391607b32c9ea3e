"""Real dialogs for tests, short: sections without the sentences that hold no answer."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.quac.file_format import CANNOT_ANSWER, context_of, seed_record
from annotation.protocols.quac.simple_baselines import sentences_of
from annotation.protocols.quac.turns import turns_of
from readers.quac.dialogs import Dialog, dialogs_of


def official(name: str) -> Any:
    """Return a real file's content; skips the calling test where it is not at hand."""
    data = os.environ.get("COLLECTOR_DATA")
    if not data:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    return json.loads(Path(data, "official", "quac", name).read_text("utf-8"))


def real_dialogs(name: str, n_questions: int) -> list[Dialog]:
    """Return the first dialogs of a real file, with so many questions in all."""
    found, left = [], n_questions
    sections = [shortened(section) for section in official(name)["data"]]
    records = (seed_record(section, "", str(at)) for at, section in enumerate(sections))
    for dialog in dialogs_of(turns_of(records)):
        asked = dialog.asked[:left]
        left -= len(asked)
        if asked:
            found.append(replace(dialog, asked=asked))
    assert left == 0
    return found


def shortened(section: dict[str, Any]) -> dict[str, Any]:
    """Return a section of one dialog with those of its sentences alone that hold an answer."""
    (dialog,) = section["paragraphs"]
    answers = [question["orig_answer"] for question in dialog["qas"]]
    text = dialog["context"].removesuffix(f" {CANNOT_ANSWER}")
    kept = list(_with_an_answer(text, answers))
    qas = []
    for question in dialog["qas"]:
        answer = dict(question["orig_answer"])
        if answer["text"] != CANNOT_ANSWER:
            answer["answer_start"] = _moved(kept, answer["answer_start"])
        qas.append({**question, "orig_answer": answer, "answers": [answer]})
    context = context_of(" ".join(text[start:end] for start, end in kept))
    return {**section, "paragraphs": [{**dialog, "context": context, "qas": qas}]}


def _with_an_answer(text: str, answers: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    found = [each for each in answers if each["text"] != CANNOT_ANSWER]
    for start, end in sentences_of(text, "en"):
        holding = [
            each
            for each in found
            if each["answer_start"] < end and each["answer_start"] + len(each["text"]) > start
        ]
        if holding:
            yield start, end


def _moved(kept: list[tuple[int, int]], start: int) -> int:
    """Return where a character is when what is kept stands one blank apart."""
    place = 0
    for begin, end in kept:
        if start < end:
            return place + start - begin
        place += end - begin + 1
    raise AssertionError(start)
