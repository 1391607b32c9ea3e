"""Official files come in and go out equal; what was collected here comes out in their layout."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.hotpotqa.export import (
    SPLITS,
    WITHHELD,
    files,
    gold,
    identified,
    published,
)
from annotation.protocols.hotpotqa.file_format import LayoutError, sentences_of
from annotation.protocols.hotpotqa.tests.items import TEXTS, item, passage, record, released
from annotation.records.schema import SeedRecord
from annotation.records.withholding import questions_alone

DEV, DEV_WIKI = "hotpot_dev_distractor_v1.json", "hotpot_dev_fullwiki_v1.json"
TRAIN, TEST = "hotpot_train_v1.1.json", "hotpot_test_fullwiki_v1.json"
OPEN_TEST = "hotpot_test_distractor_v1.json"


def by_split(seeds: list[SeedRecord]) -> dict[str, list[SeedRecord]]:
    """Return the seeds by the split of their one question."""
    found: dict[str, list[SeedRecord]] = {}
    for seed in identified(seeds):
        found.setdefault(seed["questions"][0]["split"] or "", []).append(seed)
    return found


def again(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files' lists after they were read as records and written again."""
    loaded = published({name: json.dumps(value).encode() for name, value in given.items()})
    written = files(by_split(list(loaded.seeds)), loaded.articles)
    return {name: json.loads(b"".join(chunks)) for name, chunks in written}


def written(seeds: list[SeedRecord]) -> dict[str, list[Any]]:
    """Return the files of seeds collected here, withheld splits as a release hands them out."""
    parts = {split: [] for split in SPLITS} | by_split(seeds)
    public = {
        split: list(questions_alone(part, WITHHELD[split])) if split in WITHHELD else part
        for split, part in parts.items()
    }
    return {name: json.loads(b"".join(chunks)) for name, chunks in files(public, None)}


def test_real_official_files_come_out_equal(data: Path) -> None:
    for path, name in (
        (data / "official/hotpotqa/reflexion_100_distractor_official_nesting.json", DEV),
        (data / "replay/hotpot_amor_test500.json", DEV_WIKI),
    ):
        items = json.loads(path.read_bytes())
        assert again({path.name: items}) == {name: items}


def test_all_files_at_once_come_out_equal() -> None:
    train = [item(n, level=level) for n, level in enumerate(["hard", "easy", "medium", "easy"])]
    given = {
        TRAIN: train,
        DEV: [item(7), item(8)],
        DEV_WIKI: [item(8, context=[]), item(7, context=[released("Marle")])],
        TEST: [item(n, answer=None, supporting_facts=None, type=None, level=None) for n in (5, 4)],
    }
    assert again(given) == given


texts = st.text(max_size=9)
paragraphs = st.tuples(texts, st.lists(texts, max_size=3)).map(list)
facts = st.lists(st.tuples(texts, st.integers(0, 3)).map(list), max_size=3)
items = st.fixed_dictionaries(
    {
        "_id": texts,
        "answer": texts,
        "question": texts,
        "supporting_facts": facts,
        "context": st.lists(paragraphs, max_size=3),
    },
    optional={"type": st.sampled_from(["bridge", "comparison"]), "level": texts},
)


@given(st.lists(items, min_size=1, max_size=4))
def test_generated_official_files_come_out_equal(listed: list[Any]) -> None:
    assert again({DEV: listed}) == {DEV: listed}


def test_what_is_collected_here_comes_out_in_the_official_layout() -> None:
    seeds = [record(split, f"{split}?") for split in SPLITS]
    found = written(seeds)
    assert list(found) == [TRAIN, DEV, DEV_WIKI, OPEN_TEST, TEST]
    assert [(each["question"], each["level"]) for each in found[TRAIN]] == [
        ("train-easy?", "easy"),
        ("train-medium?", "medium"),
        ("train-hard?", "hard"),
    ]
    (row,) = found[DEV]
    assert list(row) == list(item())
    assert len(row["_id"]) == 24
    assert row | {"_id": ""} == item(_id="", question="dev?") | {
        "context": [released(title) for title in ("Querncross", "Staithby", "Ada Harrow")]
    }
    (wiki,) = found[DEV_WIKI]
    assert wiki == row | {"context": [released("Marle"), released("Staithby")]}
    assert [list(each) for each in found[TEST] + found[OPEN_TEST]] == [
        ["_id", "question", "context"]
    ] * 2


def test_the_gold_of_withheld_splits_is_written_apart() -> None:
    parts = by_split([record(split, f"{split}?") for split in WITHHELD])
    found = {name: json.loads(b"".join(chunks)) for name, chunks in gold(parts)}
    assert list(found) == [OPEN_TEST, TEST]
    assert [(each["answer"], each["level"]) for each in found[TEST]] == [("1702", "hard")]
    named = {TEST: [item(3)]}
    loaded = published({name: json.dumps(value).encode() for name, value in named.items()})
    seeds = by_split(list(loaded.seeds))
    assert {name: json.loads(b"".join(chunks)) for name, chunks in gold(seeds)} == named
    (public,) = ({name: json.loads(b"".join(c)) for name, c in files(seeds, None)}).values()
    assert [list(each) for each in public] == [["_id", "question", "context"]]
    assert not dict(gold(by_split(list(published({TEST: PUBLISHED}).seeds))))


PUBLISHED = json.dumps([{"_id": "1", "question": "Where?", "context": []}]).encode()


def test_ids_follow_from_the_question_alone_and_differ() -> None:
    seeds = list(identified([record("dev"), record("dev"), record("dev", "Else?")]))
    ids = [seed["questions"][0]["id"] for seed in seeds]
    assert len(set(ids)) == 3
    elsewhere = record("test-fullwiki")
    elsewhere["passages"] = [passage("Marle"), passage("Querncross")]
    (other,) = identified([elsewhere])
    assert other["questions"][0]["id"] == ids[0]


@given(st.sampled_from(sorted(TEXTS)))
def test_sentences_together_are_the_whole_text(title: str) -> None:
    assert "".join(sentences_of(passage(title))) == TEXTS[title]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"contexts": {}}, "no distractor context yet: find the contexts first"),
        ({"contexts": {"distractor": [passage("Marle")]}}, "are not in its context"),
        ({"contexts": {"distractor": [passage("Marle")] * 2}}, "share a title"),
        ({"payload": {"type": "bridge", "facts": [[1, 2]]}}, "no such sentences"),
        ({"votes": []}, "kept without an answer"),
    ],
)
def test_it_refuses_what_does_not_fit_together(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        written([record("dev", **change)])


def test_it_refuses_a_false_offset() -> None:
    seed = record("dev")
    seed["questions"][0]["votes"][0]["payload"]["spans"][0]["start"] = 40
    with pytest.raises(ValueError, match="half-open"):
        written([seed])


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (DEV, {}, "list of questions"),
        (DEV, [], "at least one"),
        (DEV, [{"_id": "1", "question": "?"}], "'context' is missing"),
        (DEV, [item(context={"title": [], "sentences": []})], "in columns"),
        (DEV, [item(supporting_facts=[["A", "0"]])], "whole number"),
        (DEV, [item(answer=3)], "must be texts"),
        (DEV, [item(answer=None)], "no question has an answer"),
        (DEV, [item(), item(answer=None)], "make two files"),
        (TRAIN, [item(level="none")], "easy, medium or hard"),
        ("test.json", [item()], "in which setting"),
    ],
)
def test_it_refuses_what_is_not_an_official_file(name: str, value: Any, sentence: str) -> None:
    with pytest.raises(LayoutError, match=sentence):
        list(published({name: json.dumps(value).encode()}).seeds)
