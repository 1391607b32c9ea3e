"""Small official files for tests: a section, what was asked about it, what people answered."""

import json
from pathlib import Path
from typing import Any

from annotation.protocols.quac.file_format import CANNOT_ANSWER, context_of

# Twelve sentences of five words: sentence and chunk are the same.
SENTENCES = [
    "Ada wrote the first notes.",
    "Grace read them at night.",
    "The engine had brass wheels.",
    "Nobody had ever built it.",
    "A friend drew its plans.",
    "They met in cold London.",
    "Her mother taught her algebra.",
    "She liked music and horses.",
    "Later she fell quite ill.",
    "Doctors came from far away.",
    "Her letters are still read.",
    "A language bears her name.",
]
SECTION = " ".join(SENTENCES)


def answer(given: str | None, section: str = SECTION) -> dict[str, Any]:
    """Return an answer of the files: the span `given`, or no answer for None."""
    text = CANNOT_ANSWER if given is None else given
    return {"text": text, "answer_start": context_of(section).index(text)}


def question(text: str, *given: str | None, yesno: str = "x", followup: str = "m") -> Any:
    """Return a question without id; given: the validators' answers, the teacher's last."""
    found = [answer(each) for each in given]
    return {
        "question": text,
        "answers": found,
        "orig_answer": found[-1],
        "yesno": yesno,
        "followup": followup,
    }


def write(path: Path, *dialogs: list[Any]) -> Path:
    """Write a v0.2 file with one section object for each dialog."""
    data = []
    for at, dialog in enumerate(dialogs):
        name = f"C_{at:032x}_0"
        asked = [{**each, "id": f"{name}_q#{turn}"} for turn, each in enumerate(dialog)]
        data.append(
            {
                "title": "Ada Lovelace",
                "section_title": "Notes",
                "background": "Ada was a writer.",
                "paragraphs": [{"context": context_of(SECTION), "id": name, "qas": asked}],
            }
        )
    path.write_text(json.dumps({"data": data}), "utf-8")
    return path
