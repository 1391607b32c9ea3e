"""Releases hold what was found, where it stands, and what evaluators load; they are read again."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.rag import export
from annotation.protocols.rag.entries import passage_id
from annotation.protocols.rag.official_records import LayoutError
from annotation.protocols.rag.tests.records import articles, collection, mark, question, seed, vote

pytestmark = pytest.mark.pure
SAMPLE = json.loads((Path(__file__).parents[1] / "sample.json").read_text("utf-8"))


def written(seeds: list[Any]) -> dict[str, bytes]:
    """Return the files of a release by name."""
    named = list(export.identified(seeds))
    by_split = {
        split: [
            {**each, "questions": found}
            for each in named
            if (found := [one for one in each["questions"] if one["split"] == split])
        ]
        for split in export.SPLITS
    }
    return {name: b"".join(pieces) for name, pieces in export.files(by_split, iter(articles()))}


def value(name: str, content: bytes) -> Any:
    """Return a file as the sample has it."""
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in content.splitlines()]
    return json.loads(content) if name.endswith(".json") else content.decode()


def test_a_collection_is_written_as_the_sample_shows() -> None:
    assert {name: value(name, content) for name, content in written(collection()).items()} == SAMPLE


def test_every_passage_is_searched_and_evidence_stands_on_its_page() -> None:
    files = written(collection())
    corpus = value("corpus.jsonl", files["corpus.jsonl"])
    ids = [each["_id"] for each in corpus]
    assert ids == ["harbour.pdf#0", "harbour.pdf#1", "people/c%201.md#2"]
    [about] = value("dev.json", files["dev.json"])["data"]
    bridge, nowhere = about["qas"]
    assert [(one["page"], one["passage_id"]) for one in bridge["evidence"]] == [
        (5, ids[0]),
        (None, ids[2]),
    ]
    contexts = {each["id"]: each["context"] for each in about["paragraphs"]}
    for one in (*bridge["evidence"], *nowhere["plausible_evidence"]):
        context = contexts[one["passage_id"]]
        assert context[one["answer_start"] : one["answer_end"]] == one["text"]
    assert (nowhere["is_impossible"], nowhere["answers"], nowhere["evidence"]) == (True, [], [])
    assert [answer["text"] for answer in bridge["answers"]] == ["Marl Reach", "at Marl Reach"]
    assert f"{bridge['id']}\tpeople/c%201.md#2\t1\n" in files["qrels/dev.tsv"].decode()
    assert nowhere["id"] not in files["qrels/dev.tsv"].decode()


def test_ids_follow_from_content_and_no_verdict_changes_them() -> None:
    once, again = (list(export.identified(collection())) for _ in range(2))
    assert once == again
    seeds = collection()
    del seeds[0]["questions"][1]["verdict"]
    ids = [[one["id"] for one in each["questions"]] for each in export.identified(seeds)]
    assert ids == [[one["id"] for one in each["questions"]] for each in once]
    assert len({one for some in ids for one in some}) == 3
    assert passage_id("a b%.txt\n", 3) == "a%20b%25.txt%0A#3"


def test_what_does_not_fit_together_is_refused_by_the_question_s_id() -> None:
    moved = mark(articles()[1]["passages"][0], "born")
    moved["start"] += 1
    for proof, words in ((moved, "is not 'born'"), ({**moved, "paragraph": 9}, "has no passage")):
        wrong = question("Who?", vote("answer", "born", proof, chosen=True))
        with pytest.raises(ValueError, match=f"^Question [0-9a-f]{{24}}: .*{words}"):
            written([seed(wrong)])
    with pytest.raises(ValueError, match="kept without an answer"):
        written([seed(question("Who?", vote("answer", "born")))])


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"dev.json": b"{"}, "dev.json: it is not valid JSON"),
        ({"dev.json": b'{"data": ""}'}, "'data' must be a list"),
        ({"dev.json": b'{"data": [{}]}'}, "set 0 has no 'paragraphs'"),
        ({"dev.json": b"{}", "my-dev.json": b"{}"}, "there is a file for dev already"),
        ({"corpus.jsonl": b""}, "none has questions; give one of train.json"),
        (
            {"dev.json": b'{"data": [{"paragraphs": [], "qas": [{"id": 3}]}]}'},
            "question 0, 'id' must be a text",
        ),
    ],
)
def test_what_is_no_released_file_is_refused_in_one_line(files: Any, words: str) -> None:
    with pytest.raises(LayoutError, match=words):
        export.published(files)
