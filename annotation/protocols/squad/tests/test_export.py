"""Official files round-trip equal, and what is no such file is refused in one line."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.squad import export
from annotation.protocols.squad.official_records import LayoutError
from annotation.release.release_files import Spool

SAMPLE = json.loads((Path(__file__).parents[1] / "sample.json").read_text("utf-8"))
TRAIN, DEV = "train-v2.0.json", "dev-v2.0.json"


def again(given: dict[str, bytes], folder: Path) -> dict[str, Any]:
    """Return what is written of official files that were read, by name."""
    read = export.published(given)
    spool = Spool(folder / "records.jsonl").fill(export.identified(read.seeds))
    written = export.files({split: spool.of_split(split) for split in read.splits.values()}, None)
    return {name: json.loads(b"".join(pieces)) for name, pieces in written}


@pytest.mark.parametrize("name", ["allennlp_squad.json", "allennlp_squad2.json"])
def test_public_files_are_read_and_written_equal(name: str, data: Path, tmp_path: Path) -> None:
    content = (data / "official" / "squad" / name).read_bytes()
    assert again({DEV: content}, tmp_path) == {DEV: json.loads(content)}


def test_what_files_hold_beside_the_layout_is_kept(tmp_path: Path) -> None:
    whole = deepcopy(SAMPLE[TRAIN])
    whole["note"] = {"made": 1.5}
    article = whole["data"][0]
    article["source"] = "an island"
    article["paragraphs"][0]["page"] = 3
    article["paragraphs"][0]["qas"][0]["mood"] = None
    # Two articles of one title stay two.
    whole["data"].append(deepcopy(article))
    assert again({TRAIN: json.dumps(whole).encode()}, tmp_path) == {TRAIN: whole}


def test_votes_follow_from_published_answers() -> None:
    read = export.published({name: json.dumps(SAMPLE[name]).encode() for name in SAMPLE})
    questions = {row["id"][:2]: row for seed in read.seeds for row in seed["questions"]}
    assert [vote["type"] for vote in questions["0c"]["votes"]] == ["span", "span"]
    [none] = questions["0b"]["votes"]
    assert (none["type"], none["chosen"]) == ("none", True)
    assert [span["text"] for span in none["payload"]["plausible"]] == ["1880"]


def test_ids_follow_from_content_and_no_verdict_changes_them() -> None:
    passage = {"title": "Mill", "section": "", "text": "It stands.", "links": []}
    twins = [{"text": "Does it stand?", "payload": {}, "id": ""} for _ in range(2)]
    seed: Any = {"passages": [passage], "payload": {}, "questions": twins}
    [first], [second] = (list(export.identified(iter([seed]))) for _ in range(2))
    ids = [question["id"] for question in first["questions"]]
    assert ids == [question["id"] for question in second["questions"]]
    assert len(set(ids)) == 2
    assert all(len(key) == 24 and int(key, 16) for key in ids)


def collected(**vote: Any) -> Any:
    """Return a seed with one kept question whose answer is changed."""
    span = {"document": "main", "start": 0, "end": 2, "text": "It"}
    payload = {"spans": [span], "plausible": [], "reason": ""}
    given = {"type": "span", "payload": payload, "chosen": True, "agrees": True, "synthetic": False}
    question = {"id": "q1", "text": "What stands?", "payload": {}, "synthetic": False}
    question["votes"] = [{**given, **vote}]
    passage = {"title": "Mill", "section": "", "text": "It stands.", "links": []}
    return {"passages": [passage], "payload": {}, "questions": [question]}


def written(seed: Any) -> Any:
    """Return the only question of the file of one seed."""
    [(_, pieces)] = export.files({"dev": [seed]}, None)
    return json.loads(b"".join(pieces))["data"][0]["paragraphs"][0]["qas"][0]


def test_a_corrected_answer_stands_alone() -> None:
    seed = collected()
    [question] = seed["questions"]
    span = {"document": "main", "start": 3, "end": 9, "text": "stands"}
    question["correction"] = {"type": "span", "payload": {"spans": [span]}}
    assert written(seed)["answers"] == [{"text": "stands", "answer_start": 3}]


def test_only_those_who_agree_are_answers_and_no_simulated_one_to_a_persons_question() -> None:
    seed = collected()
    [question] = seed["questions"]
    [own] = question["votes"]
    other = {**own, "chosen": False}
    question["votes"] += [other, {**other, "agrees": False}, {**other, "synthetic": True}]
    assert len(written(seed)["answers"]) == 2


@pytest.mark.parametrize(
    ("vote", "message"),
    [
        ({"chosen": False}, "q1 is kept without an answer: decide it again"),
        (
            {"payload": {"spans": [{"start": 0, "end": 2, "text": "At"}]}},
            r"q1: 0:2 of its passage is not 'At'. Mark it again",
        ),
    ],
)
def test_what_cannot_be_released_is_named(vote: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        written(collected(**vote))


def test_a_split_without_a_question_is_a_file_without_an_article() -> None:
    [(name, pieces)] = export.files({"test": []}, None)
    assert (name, json.loads(b"".join(pieces))) == (
        "test-v2.0.json",
        {"version": "v2.0", "data": []},
    )


def lose(*path: Any) -> Callable[[Any], None]:
    """Return what takes something out of a file."""

    def change(whole: Any) -> None:
        for step in path[:-1]:
            whole = whole[step]
        del whole[path[-1]]

    return change


FIRST = ("data", 0, "paragraphs", 0)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("mine.json", None, r"mine\.json: which split is it\? Name it one of train-v2\.0\.json"),
        (TRAIN, lose("data"), r"train-v2\.0\.json has no 'data'"),
        (TRAIN, lose(*FIRST, "context"), r"article 0, paragraph 0 has no 'context'"),
        (TRAIN, lose(*FIRST, "qas", 0, "id"), r"paragraph 0, question 0 has no 'id'"),
        (TRAIN, lose(*FIRST, "qas", 0, "answers"), r"question 0 has no 'answers'"),
        (
            TRAIN,
            lambda whole: whole["data"][0].update(paragraphs=[]),
            r"article 0 has no paragraph: take it out",
        ),
        (
            TRAIN,
            lambda whole: whole["data"][0]["paragraphs"][0]["qas"][0]["answers"][0].update(
                answer_start="61"
            ),
            r"question 0, 'answer_start' must be a whole number",
        ),
        (TRAIN, lambda whole: whole.update(data={}), r"'data' must be a list"),
        (TRAIN, lambda whole: whole.update(data=""), r"'data' must be a list"),
    ],
)
def test_another_layout_is_refused_at_its_place(
    name: str, change: Callable[[Any], None] | None, message: str
) -> None:
    whole = deepcopy(SAMPLE[TRAIN])
    if change:
        change(whole)
    with pytest.raises(LayoutError, match=message):
        export.published({name: json.dumps(whole).encode()})


def test_no_json_and_two_files_of_one_split_are_refused() -> None:
    with pytest.raises(LayoutError, match=r"dev-v2\.0\.json: it is not valid JSON"):
        export.published({DEV: b"{"})
    with pytest.raises(LayoutError, match="there is a file for dev already"):
        export.published({DEV: b"{}", "dev-v1.1.json": b"{}"})
