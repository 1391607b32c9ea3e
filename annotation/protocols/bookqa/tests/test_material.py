"""What baselines are trained on: told apart by its content, and never a question of another set."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.metrics.result import ScoreError
from annotation.protocols.bookqa.baselines import TRAINED
from annotation.protocols.bookqa.export import question_ids
from annotation.protocols.bookqa.scoring import read_gold
from collector.ingest.books.tests.making import document, pair, table
from readers.bookqa.material import (
    DEV,
    TRAIN,
    by_oracle,
    by_ranking,
    parted,
    read_material,
)
from readers.trained import ReaderError

pytestmark = pytest.mark.pure
TEXTS = ("A mill stood by the ford.", "The miller's daughter crossed it.", "It rained for days.")


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def passages(folder: Path, *documents: str) -> Path:
    lines = [
        {"document_id": name, "passage": place, "start": 0, "end": len(text), "text": text}
        for name in documents
        for place, text in enumerate(TEXTS)
    ]
    return write(folder / "passages.jsonl", *reversed(lines))


def candidate(key: str, part: str = "train", **more: object) -> dict[str, object]:
    line = {"id": key, "document_id": "ford", "set": part, "question": f"Who is {key}?"}
    return {**line, "answers": ["the daughter", "a girl"], "passages": [1, 0], **more}


def story(folder: Path, *lines: object) -> list[Path]:
    return [passages(folder, "ford"), write(folder / "candidates.jsonl", *lines)]


def test_a_question_has_its_passages_in_their_order(tmp_path: Path) -> None:
    documents = table(tmp_path / "documents.csv", document("ford", wiki_title="The Ford"))
    found = read_material([*story(tmp_path, candidate("a")), documents]).about_stories()
    assert [one.passages for one in found] == [(TEXTS[1], TEXTS[0])]
    assert found[0].title == "The Ford"
    assert found[0].first(1).passages == (TEXTS[1],)


def test_a_question_about_a_summary_has_it_whole(tmp_path: Path) -> None:
    rows = table(tmp_path / "qaps.csv", pair("ford"), pair("ford", "When?"))
    told = {"document_id": "ford", "set": "valid", "summary": " She crossed. "}
    files = [rows, table(tmp_path / "summaries.csv", told)]
    found = read_material(files).about_summaries()
    assert [one.passages for one in found] == [("She crossed.",)] * 2
    ids = question_ids([("ford", "Who crossed the ford?"), ("ford", "When?")])
    assert [one.id for one in found] == list(ids)


def test_a_question_that_the_books_did_not_come_with_is_ranked(tmp_path: Path) -> None:
    asked = pair("ford", "Who crossed by the miller's ford?") | {"set": "train"}
    rows = table(tmp_path / "qaps.csv", asked, pair("weir"))
    material = read_material([*story(tmp_path, candidate("a")), rows])
    told, found = material.about_stories()
    assert told.id == "a"
    assert (found.question, found.set) == (asked["question"], TRAIN)
    assert (found.passages[0], len(found.passages)) == (TEXTS[1], 3)
    # Nobody has read the book of the other question, which only its summary could answer.
    (labelled,) = material.supervised()
    assert (labelled["id"], labelled["positives"]) == (found.id, [1])


def test_the_oracle_finds_by_the_answers_too(tmp_path: Path) -> None:
    line = candidate("a", question="Who?", passages=[0], answers=["for days", "days"])
    material = read_material(story(tmp_path, line))
    (found,) = by_oracle(material.about_stories(), material, 0.9, 0.4)
    assert found.passages == (TEXTS[2],)


def test_a_ranking_puts_the_passages_in_order(tmp_path: Path) -> None:
    files = story(tmp_path, candidate("a"))
    ranking = write(tmp_path / "mine.jsonl", {"id": "a", "passages": [0, 1]})
    material = read_material([*files, ranking])
    (found,) = by_ranking(material.about_stories(), material.rankings)
    assert found.passages == (TEXTS[0], TEXTS[1])
    for wrong, said in (({"b": [0]}, "lacks the question a"), ({"a": [2]}, "has passages of a")):
        with pytest.raises(ReaderError, match=said):
            by_ranking(material.about_stories(), wrong)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    sets=st.lists(st.sampled_from(["train", "valid", "test"]), min_size=1, max_size=8),
    dev=st.sets(st.integers(0, 7)),
)
def test_nothing_is_learnt_from_another_set_or_from_dev(
    sets: list[str], dev: set[int], tmp_path: Path
) -> None:
    asked = [candidate(str(number), part) for number, part in enumerate(sets)]
    material = read_material(story(tmp_path, *asked))
    gold = {str(number): ["she"] for number in dev if number < len(sets)}
    learnt, answered = parted(material.about_stories(), gold, tmp_path)
    assert {one.id for one in answered} == gold.keys()
    assert all(one.answers == ("she",) for one in answered)
    wanted = {str(at) for at, part in enumerate(sets) if part == TRAIN and str(at) not in gold}
    assert {one.id for one in learnt} == wanted


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("nothing\n", "line 1: it is no object in JSON"),
        ('{"a": 1}\n', "no file of rank_passages, no ranking, and no table"),
        ('{"id": "a", "passages": [0]}\n{"id": "b"}\n', "line 2: it lacks one of id, passages"),
    ],
)
def test_a_file_that_is_none_of_them_is_refused(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(content)
    with pytest.raises(ReaderError, match=said):
        read_material([path])
    path.unlink()
    with pytest.raises(ReaderError, match=r"file\.jsonl: it cannot be read"):
        read_material([path])


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    empty = read_material([])
    with pytest.raises(ReaderError, match=r"give passages\.jsonl and candidates\.jsonl"):
        empty.about_stories()
    with pytest.raises(ReaderError, match=r"give qaps\.csv and summaries\.csv"):
        empty.about_summaries()
    material = read_material(story(tmp_path, candidate("a", passages=[7])))
    with pytest.raises(ReaderError, match="it lacks passages of ford"):
        material.about_stories()
    asked = read_material(story(tmp_path, candidate("a"))).about_stories()
    with pytest.raises(ReaderError, match="know nothing of the question b"):
        parted(asked, {"b": ["she"]}, tmp_path / "dev.json")
    rows = table(tmp_path / "qaps.csv", pair("weir"))
    told = {"document_id": "ford", "set": "valid", "summary": "She crossed."}
    lacking = read_material([rows, table(tmp_path / "summaries.csv", told)])
    with pytest.raises(ReaderError, match="no summary of weir"):
        lacking.about_summaries()
    with pytest.raises(ScoreError, match=r"bad\.csv lacks the column"):
        read_material([table(tmp_path / "bad.csv", {"question": "Who?"})])


def test_of_a_table_of_several_sets_one_may_be_scored(tmp_path: Path) -> None:
    several = table(tmp_path / "qaps.csv", pair("ford"), pair("weir") | {"set": "train"})
    assert len(read_gold(several)) == 2
    assert read_gold(several, DEV) == {
        next(question_ids([("ford", "Who crossed the ford?")])): [
            "The miller's daughter.",
            "a girl",
        ]
    }
    alone = table(tmp_path / "test.csv", pair("ford") | {"set": "test"})
    assert len(read_gold(alone, DEV)) == 1
    with pytest.raises(ScoreError, match="no question to score"):
        read_gold(several, "test")


def test_what_a_baseline_needs_is_trained_before_it() -> None:
    names = list(TRAINED)
    for name, about in TRAINED.items():
        assert all(names.index(need) < names.index(name) for need in about.needs)
