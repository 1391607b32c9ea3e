"""Official files come in and go out equal; dialogs collected here come out in their layout."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.quac.export import files, identified, published
from annotation.protocols.quac.file_format import LayoutError
from annotation.records.schema import SeedRecord

TEXT = "Ada wrote the notes. Grace read them."


def again(given: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the files' data after they were read as records and written again."""
    loaded = published(given)
    by_split: dict[str, list[SeedRecord]] = {split: [] for split in loaded.splits.values()}
    for seed in identified(loaded.seeds):
        by_split[seed["fold"]].append(seed)
    written = files(by_split, loaded.articles)
    return {name: json.loads(b"".join(chunks)) for name, chunks in written}


def collected(votes: list[dict[str, Any]]) -> SeedRecord:
    """Return the record of a section with one dialog of one question and these votes."""
    passage = {"title": "Ada Lovelace", "text": "Ada was a writer.", "section": "", "links": []}
    section = {"title": "Ada Lovelace", "text": TEXT, "section": "Notes", "links": []}
    question = {
        "text": "What did she write?",
        "payload": {"dialog": 0, "turn": 0},
        "synthetic": False,
        "votes": votes,
    }
    seed: Any = {"key": "s", "payload": {}, "passages": [passage, section], "questions": [question]}
    return next(identified([seed]))


def vote(start: int | None, end: int | None = None, **acts: Any) -> dict[str, Any]:
    """Return the record of a vote for a span of TEXT, or for no answer."""
    spans = [] if start is None else [{"start": start, "end": end, "text": TEXT[start:end]}]
    kind = "none" if start is None else "span"
    shared = {"synthetic": False, "chosen": bool(acts)}
    return {"type": kind, "payload": {"spans": spans, **acts}, **shared}


def test_real_official_files_come_out_equal(data: Path) -> None:
    folder = data / "official" / "quac"
    for names in (("train_v0.2.json", "val_v0.2.json"), ("allennlp_quac_sample.json",)):
        given = {
            name.replace("allennlp_quac_sample", "train_old"): (folder / name).read_bytes()
            for name in names
        }
        assert list(again(given).values()) == [json.loads(content) for content in given.values()]


answers = st.fixed_dictionaries(
    {"text": st.sampled_from(["Ada", "CANNOTANSWER"]) | st.text(), "answer_start": st.integers(0)}
)
questions = st.fixed_dictionaries(
    {
        "id": st.text(),
        "question": st.text(),
        "answers": st.lists(answers, max_size=3),
        "orig_answer": answers,
        "yesno": st.sampled_from("ynx"),
        "followup": st.sampled_from("ynm"),
    }
)
dialogs = st.fixed_dictionaries(
    {"id": st.text(), "context": st.text(), "qas": st.lists(questions, max_size=3)}
)
sections = st.fixed_dictionaries(
    {"title": st.text(), "paragraphs": st.lists(dialogs, max_size=3)},
    optional={"background": st.text(), "section_title": st.text()},
)


@given(st.lists(sections, max_size=3))
def test_generated_official_files_come_out_equal(listed: list[dict[str, Any]]) -> None:
    file = {"data": listed}
    assert again({"val_v0.2.json": json.dumps(file).encode()}) == {"val_v0.2.json": file}


def test_a_dialog_collected_here_has_the_teachers_answer_last_among_all() -> None:
    acts = {"continuation": "follow_up", "affirmation": "neither"}
    # What a simulated worker has added to people's work stays out.
    made_up = vote(0, 3) | {"synthetic": True}
    seed = collected([vote(10, 19, **acts), vote(None), made_up, vote(0, 19)])
    ((name, chunks),) = files({"dev": [seed]}, None)
    (section,) = json.loads(b"".join(chunks))["data"]
    (dialog,) = section["paragraphs"]
    (question,) = dialog["qas"]
    assert name == "val_v0.2.json"
    assert (section["title"], section["section_title"]) == ("Ada Lovelace", "Notes")
    assert section["background"] == "Ada was a writer."
    assert dialog["context"] == f"{TEXT} CANNOTANSWER"
    assert dialog["id"].startswith("C_")
    assert dialog["id"].endswith("_0")
    assert question["id"] == f"{dialog['id']}_q#0"
    assert question["orig_answer"] == {"text": "the notes", "answer_start": 10}
    assert question["answers"] == [
        {"text": "CANNOTANSWER", "answer_start": len(TEXT) + 1},
        {"text": "Ada wrote the notes", "answer_start": 0},
        {"text": "the notes", "answer_start": 10},
    ]
    assert (question["followup"], question["yesno"]) == ("y", "x")


def test_it_refuses_a_false_offset() -> None:
    acts = {"continuation": "maybe", "affirmation": "no"}
    wrong = vote(10, 19, **acts)
    wrong["payload"]["spans"][0]["start"] = 9
    with pytest.raises(ValueError, match="Offsets are half-open"):
        [b"".join(chunks) for _, chunks in files({"dev": [collected([wrong])]}, None)]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("val.json", "[]", "one key data"),
        ("val.json", "{", "not valid JSON"),
        ("val.json", '{"data": 1}', "its data must be a list"),
        ("val.json", "[" * 100_000, "not valid JSON"),
        ("val.json", '{"data": [{}]}', "section 0: 'paragraphs' is missing"),
        ("val.json", '{"data": [{"title": 3, "paragraphs": []}]}', "title must be a text"),
        ("some.json", '{"data": []}', "which part"),
    ],
)
def test_it_refuses_what_is_not_an_official_file(name: str, content: str, sentence: str) -> None:
    with pytest.raises(LayoutError, match=sentence):
        list(published({name: content.encode()}).seeds)


def test_an_answer_chosen_by_hand_is_released_with_the_teachers_hint() -> None:
    teacher = vote(10, 19, continuation="maybe", affirmation="neither") | {"chosen": False}
    validator = vote(0, 3, continuation=None, affirmation="yes")
    ((_, chunks),) = files({"dev": [collected([teacher, validator])]}, None)
    (section,) = json.loads(b"".join(chunks))["data"]
    (question,) = section["paragraphs"][0]["qas"]
    assert question["orig_answer"] == {"text": "Ada", "answer_start": 0}
    assert [answer["text"] for answer in question["answers"]] == ["the notes", "Ada"]
    assert (question["followup"], question["yesno"]) == ("m", "y")
