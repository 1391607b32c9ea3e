"""NarrativeQA's three files are read, and written again as they were; collected ones alike."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.bookqa.export import (
    COLUMNS,
    answers_by_id,
    files,
    identified,
    published,
    tokenized,
)
from annotation.records.schema import IMPORTED

SAMPLE = json.loads((Path(__file__).parents[1] / "sample.json").read_text("utf-8"))
FILES = {name: text.encode() for name, text in SAMPLE.items()}


def written(seeds: Any) -> dict[str, bytes]:
    """Return the files of seeds by their folds."""
    by_split: dict[str, list[Any]] = {"train": [], "dev": [], "test": []}
    for seed in seeds:
        by_split[seed["fold"]].append(seed)
    return {name: b"".join(pieces) for name, pieces in files(by_split, None)}


def test_published_files_are_written_again_byte_by_byte() -> None:
    assert written(published(FILES).seeds) == FILES


def test_questions_alone_are_enough() -> None:
    alone = {"qaps.csv": FILES["qaps.csv"]}
    seeds = list(published(alone).seeds)
    assert [len(seed["questions"]) for seed in seeds] == [2, 1]
    assert written(seeds)["qaps.csv"] == FILES["qaps.csv"]


def test_a_question_keeps_its_first_answer_and_the_other_persons() -> None:
    first, _ = published(FILES).seeds
    asked = first["questions"][0]
    assert asked["text"] == "Why does Marta burn the letter?"
    assert asked["payload"]["fields"]["answer"] == "Because her uncle forged it."
    assert asked["votes"][0]["payload"]["fields"]["answer"] == "it's a forgery, by her uncle"
    assert asked["split"] == "train"


def test_the_scorer_finds_every_id_of_a_release_where_equal_questions_are_not_all_kept() -> None:
    first, _ = published(FILES).seeds
    [row, *_] = first["questions"]
    del row["payload"][IMPORTED], first["payload"][IMPORTED]
    first["payload"]["kind"] = "book"
    asked: Any = [
        {**row, "key": str(number), "asked_before": (number, number)} for number in (0, 1)
    ]
    both, late = (list(identified([{**first, "questions": kept}])) for kept in (asked, asked[1:]))
    once, again = (one["id"] for one in both[0]["questions"])
    assert [one["id"] for one in late[0]["questions"]] == [again]
    for seeds, ids in ((both, [once, again]), (late, [again])):
        released = written(seeds)
        assert list(answers_by_id("qaps.csv", released["qaps.csv"])) == ids
        read = list(identified(published(released).seeds))
        assert [one["id"] for one in read[0]["questions"]] == ids
        assert written(read) == released
    assert "question_id" not in written(both)["qaps.csv"].decode()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("qaps.csv", "document_id,set,question,answer1\n", r"qaps\.csv lacks the column answer2"),
        ("summaries.csv", "document_id,text\n", r"summaries\.csv lacks the column set"),
        ("documents.csv", "document_id,kind\n", r"documents\.csv lacks the column set"),
        ("qaps.csv", "document_id,set,question,answer1,answer2\na,b\n", "has not as many cells"),
        ("qaps.csv", "document_id,set,question,answer1,answer2\na,b,c,d,e\n", "no set 'b'"),
        (
            "qaps.csv",
            "document_id,set,question,answer1,answer2\nno,test,c,d,e\n",
            r"documents\.csv has no document 'no'",
        ),
        ("qaps.csv", '"', "is no CSV"),
    ],
)
def test_what_is_wrong_is_one_line(name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        published(FILES | {name: text.encode()})


def test_what_is_missing_or_given_twice_is_named() -> None:
    with pytest.raises(ValueError, match=r"give qaps\.csv, which holds the questions"):
        published({"summaries.csv": FILES["summaries.csv"]})
    with pytest.raises(ValueError, match=r"there is another qaps\.csv already"):
        published(FILES | {"more.csv": FILES["qaps.csv"]})


def test_tokens_stand_one_blank_apart_without_apostrophes() -> None:
    assert tokenized("She's here, at  “last”!") == "She s here , at “ last ” !"


@pytest.mark.data
def test_real_rows_are_written_again_byte_by_byte(data: Path) -> None:
    folder = data / "official" / "narrativeqa"
    real = {
        name: (folder / f"hfdummy_{name}").read_bytes()
        for name in ("documents.csv", "qaps.csv", "summaries.csv")
    }
    again = written(published(real).seeds)
    for name, content in real.items():
        rows = list(csv.reader(content.decode().splitlines(keepends=True)))
        assert list(csv.reader(again[name].decode().splitlines(keepends=True))) == rows
        assert tuple(rows[0]) == COLUMNS[name]
