"""What an official file says is said again, act for act."""

import json
from pathlib import Path

import pytest

from annotation.protocols.quac.file_format import LayoutError
from annotation.protocols.quac.replay import replay

SPAN = {"text": "in Hollin", "answer_start": 12}
NONE = {"text": "CANNOTANSWER", "answer_start": 23}
CONTEXT = "He was born in Hollin. CANNOTANSWER"


def section(**changed: object) -> dict[str, object]:
    asked = [
        {"id": "C_1_0_q#0", "question": "Where?", "orig_answer": SPAN, "answers": [SPAN]}
        | {"yesno": "x", "followup": "y"},
        {"id": "C_1_0_q#1", "question": "Why?", "orig_answer": NONE, "answers": [NONE]}
        | {"yesno": "n", "followup": "m"},
    ]
    dialog = {"id": "C_1_0", "context": CONTEXT, "qas": asked}
    whole = {"title": "Ada", "section_title": "Life", "background": "Ada sings."}
    return {**whole, "paragraphs": [dialog], **changed}


def written(folder: Path, *sections: dict[str, object]) -> Path:
    path = folder / "train_v0.2.json"
    path.write_text(json.dumps({"data": sections}))
    return path


def test_both_partners_say_what_was_said(tmp_path: Path) -> None:
    found = replay(written(tmp_path, section()))
    place = {"title": "Ada", "heading": "Life"}
    turns = [{"question": "Where?", "answer": None}]
    assert found.speak({**place, "role": "student", "turns": []})["text"] == "Where?"
    said = found.speak({**place, "role": "teacher", "turns": turns})
    assert said == {
        "type": "answer",
        "start": 12,
        "end": 21,
        "continuation": "follow_up",
        "affirmation": "neither",
    }
    said = found.speak({**place, "role": "teacher", "turns": turns * 2})
    assert (said["start"], said["continuation"], said["affirmation"]) == (None, "maybe", "no")
    assert found.speak({**place, "role": "student", "turns": turns * 2}) == {"type": "end"}


def test_sections_of_one_article_share_its_beginning(tmp_path: Path) -> None:
    found = replay(written(tmp_path, section(), section(section_title="Work")))
    ((title, paragraphs),) = found.pages()
    assert title == "Ada"
    assert [heading for heading, _, _ in paragraphs] == ["", "Life", "Work"]
    assert paragraphs[1][1] == "He was born in Hollin."
    assert found.n_seeds == 2


def test_it_refuses_what_has_no_background(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match="Ada has no background"):
        replay(written(tmp_path, section(background="")))


def test_it_names_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match=r"nowhere\.json: it cannot be read"):
        replay(tmp_path / "nowhere.json")


def test_an_unknown_section_is_nobodys_dialog(tmp_path: Path) -> None:
    found = replay(written(tmp_path, section()))
    with pytest.raises(ValueError, match="no dialog about"):
        found.speak({"title": "Ada", "heading": "Death", "role": "student", "turns": []})
