"""Releases: real files come back equal, and nothing public tells of what is withheld."""

import csv
import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from django.test import Client

from annotation.decisions.records import records
from annotation.models import Context, Release, SplitAssignment, Verdict
from annotation.protocols.hotpotqa import file_format
from annotation.protocols.hotpotqa.file_format import SPLITS
from annotation.protocols.hotpotqa.scoring import score
from annotation.protocols.hotpotqa.tests.pairs import (
    RANDOM_SEED,
    ask,
    give_context,
    pairs,
    read_again,
    town,
)
from annotation.records.withholding import public_records
from annotation.release.official_import import Source, import_official_files
from annotation.release.publish_release import PublishedRelease, publish_release
from annotation.release.tests.reference_readers import read_release
from annotation.release.write_log import work_digest
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import Facts
from annotation.tests.making import NOW, make_answer
from collector.models import Collection, Paragraph
from common.actions import ActionError
from tasks.models import Question

pytestmark = pytest.mark.django_db
TEST = "hotpot_test_fullwiki_v1.json"


@pytest.fixture
def issued(tmp_path: Path) -> PublishedRelease:
    """Return a release of `pairs`."""
    return publish_release(pairs(), tmp_path / "out", NOW)


def loaded(folder: Path, name: str) -> Any:
    """Return what a JSON file of the release holds."""
    return json.loads((folder / name).read_bytes())


def votes(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the votes."""
    from pyarrow import parquet

    return parquet.read_table(folder / "votes.parquet").to_pylist()


def words_of(folder: Path) -> str:
    """Return every word of a folder's files, those of the Parquet file read out of it."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".parquet"]
    text = "\n".join(path.read_text("utf-8") for path in files)
    return text + json.dumps(votes(folder), ensure_ascii=False)


def test_real_files_are_stored_released_equal_and_scored(data: Path, tmp_path: Path) -> None:
    for number, (path, name) in enumerate(
        (
            ("official/hotpotqa/reflexion_100_distractor_official_nesting.json", "distractor"),
            ("replay/hotpot_amor_test500.json", "fullwiki"),
        )
    ):
        content = (data / path).read_bytes()
        files = {Path(path).name: content}
        collection = import_official_files(f"real-{number}", "hotpotqa", files, Source(), NOW)
        folder = publish_release(collection, tmp_path / name, NOW).folder
        released = f"hotpot_dev_{name}_v1.json"
        assert loaded(folder, released) == json.loads(content)
        assert not list(folder.glob("hotpot_t*"))
        assert not folder.with_name(f"{name}-private").exists()
        items = json.loads(content)
        perfect = {
            "answer": {item["_id"]: item["answer"] for item in items},
            "sp": {item["_id"]: item["supporting_facts"] for item in items},
        }
        (tmp_path / "perfect.json").write_text(json.dumps(perfect))
        found = score(tmp_path / "perfect.json", folder / released, {"by": "type"})
        assert set(found["official"].values()) == {1.0}
        assert set(found["groups"]) == {"bridge", "comparison"}


def test_every_split_is_in_its_file(issued: PublishedRelease) -> None:
    names = sorted(path.name for path in issued.folder.glob("hotpot_*"))
    assert {name: len(loaded(issued.folder, name)) for name in names} == {
        "hotpot_dev_distractor_v1.json": 1,
        "hotpot_dev_fullwiki_v1.json": 1,
        "hotpot_test_distractor_v1.json": 1,
        TEST: 1,
        "hotpot_train_v1.1.json": 3,
    }
    assert issued.release.counts["questions"] == dict.fromkeys(SPLITS, 1)


def test_nothing_public_holds_answer_facts_type_or_pair_of_what_is_withheld(
    issued: PublishedRelease,
) -> None:
    public = words_of(issued.folder)
    secret = Question.objects.get(split_assignment__split="test-fullwiki")
    (item,) = loaded(issued.folder, TEST)
    assert list(item) == ["_id", "question", "context"]
    # In its file, and as the card's example of its split.
    assert public.count(secret.text) == 2
    assert public.count(item["_id"]) == 2
    for question in Question.objects.filter(split_assignment__split__startswith="test-"):
        unit = uuid5(NAMESPACE_URL, f"question\n{question.seed.key}").hex
        for key in (question.key, question.seed.key, unit):
            assert key not in public
    assert "Secret" not in public
    assert str(RANDOM_SEED) not in public
    with (issued.folder / "ATTRIBUTION.csv").open(encoding="utf-8") as file:
        used = {row["title"]: row["used_as"] for row in csv.DictReader(file)}
    assert used == {
        **{f"Town{number}{letter}": "passage" for number in range(4) for letter in "AB"},
        **{f"Town4{letter}": "context" for letter in "AB"},
        **{f"Other{number}": "context" for number in range(3)},
    }
    assert {row["split"] for row in votes(issued.folder)} == set(SPLITS[:4])


def test_every_split_loads_typed_and_withheld_ones_without_their_answers(
    issued: PublishedRelease, tmp_path: Path
) -> None:
    read = read_release(issued.folder, tmp_path / "cache")
    assert set(read) == {split.replace("-", "_") for split in SPLITS}
    (easy,) = read["train_easy"]
    (item,) = (
        row for row in loaded(issued.folder, "hotpot_train_v1.1.json") if row["level"] == "easy"
    )
    assert (easy["id"], easy["answer"], easy["type"]) == (item["_id"], item["answer"], item["type"])
    assert [[fact["title"], fact["sentence"]] for fact in easy["supporting_facts"]] == (
        item["supporting_facts"]
    )
    assert [[each["title"], each["sentences"]] for each in easy["context"]] == item["context"]
    assert {each["setting"] for each in read["dev"][0]["context"]} == {"distractor", "fullwiki"}
    (secret,) = read["test_fullwiki"]
    (asked,) = loaded(issued.folder, TEST)
    told = {name for name, value in secret.items() if value not in (None, [], False)}
    assert told == {"id", "split", "question", "context"}
    assert [[each["title"], each["sentences"]] for each in secret["context"]] == asked["context"]


def test_second_readings_and_who_called_a_question_bad_are_votes_and_no_answers(
    tmp_path: Path,
) -> None:
    collection = pairs()
    for question in Question.objects.all():
        read_again(question, ("Somewhere", [[0, 0]]), ("yes", [[0, 0]]))
        make_answer(question, "bad", worker="mallory", stage="question", reason="It is odd.")
    folder = publish_release(collection, tmp_path / "out", NOW).folder
    read = read_release(folder, tmp_path / "cache")
    told = [row["answers"] for split, rows in read.items() for row in rows if "test" not in split]
    assert [len(answers) for answers in told] == [1] * 4
    assert all(one["chosen"] for answers in told for one in answers)
    assert len(votes(folder)) == 4 * 4


def test_work_on_what_is_withheld_cannot_be_found_by_trying(issued: PublishedRelease) -> None:
    lines = (issued.folder / "assignments.jsonl").read_text().splitlines()
    told = [json.loads(line)["work"] == work_digest({}) for line in lines]
    assert told == [True] * 4 + [False] * 2


def test_the_gold_is_in_a_folder_for_its_owner_alone(
    issued: PublishedRelease, tmp_path: Path
) -> None:
    private = issued.private
    assert private == tmp_path / "out-private"
    assert private.stat().st_mode & 0o777 == 0o700
    (item,) = loaded(private, TEST)
    assert (item["answer"], item["type"]) == ("KeeperSecretB", "bridge")
    assert item["supporting_facts"] == [["SecretA", 0], ["SecretB", 1]]
    (public,) = loaded(issued.folder, TEST)
    assert public.items() <= item.items()
    given = {"answer": {item["_id"]: "Keepersecretb"}, "sp": {item["_id"]: [["SecretA", 0]]}}
    (tmp_path / "given.json").write_text(json.dumps(given))
    found = score(tmp_path / "given.json", private / TEST, {})["official"]
    assert (found["em"], found["sp_prec"], found["sp_recall"]) == (1, 1, 0.5)
    assert {row["split"] for row in votes(private)} == set(SPLITS[4:])
    assert loaded(private, "manifest.json")["seed"] == RANDOM_SEED
    assert loaded(issued.folder, "manifest.json")["seed"] is None
    assert "The answers of `test-distractor` and `test-fullwiki` are not published" in (
        issued.folder / "README.md"
    ).read_text("utf-8")


def test_another_answer_withheld_is_another_release_and_a_lost_folder_is_made_again(
    tmp_path: Path, settings: Any
) -> None:
    settings.RELEASES = tmp_path
    collection = pairs()
    first = publish_release(collection, None, NOW)
    assert not publish_release(collection, None, NOW).is_new
    for path in first.private.iterdir():
        path.unlink()
    first.private.rmdir()
    assert not publish_release(collection, None, NOW).is_new
    assert loaded(first.private, TEST)
    hide_another_answer()
    second = publish_release(collection, None, NOW)
    assert (second.release.number, second.private) == (2, tmp_path / "pilot-2-private")
    assert different(first.folder, second.folder) == {"manifest.json", "SHA256SUMS"}
    hide_another_answer()
    with pytest.raises(ActionError, match="it holds something else"):
        publish_release(collection, tmp_path / "pilot", NOW)
    assert Release.objects.count() == 2


def hide_another_answer() -> None:
    """Shorten the answer of the withheld question by a letter."""
    verdict = Verdict.objects.get(question__split_assignment__split="test-fullwiki")
    (span,) = verdict.chosen.payload["spans"]
    span |= {"end": span["end"] - 1, "text": span["text"][:-1]}
    verdict.chosen.save()


def different(one: Path, other: Path) -> set[str]:
    """Return the names of files that differ."""
    return {
        str(path.relative_to(one))
        for path in one.rglob("*")
        if path.is_file()
        and hashlib.sha256(path.read_bytes()).digest()
        != hashlib.sha256((other / path.relative_to(one)).read_bytes()).digest()
    }


def test_a_question_without_its_context_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection: Collection = pairs()
    monkeypatch.setattr("annotation.release.publish_release.find_contexts", lambda *given: 0)
    Context.objects.filter(question__split_assignment__split="dev", setting="fullwiki").delete()
    with pytest.raises(ActionError, match="no fullwiki context yet: find the contexts first"):
        publish_release(collection, tmp_path / "out", NOW)
    assert not list(tmp_path.iterdir())


def test_published_files_without_answers_can_be_stored_looked_at_and_released(
    admin_client: Client, tmp_path: Path
) -> None:
    sample = json.loads((Path(file_format.__file__).parent / "sample.json").read_text("utf-8"))
    files = {name: json.dumps(value).encode() for name, value in sample.items()}
    collection = import_official_files("read", "hotpotqa", files, Source(), NOW)
    for question in Question.objects.all():
        page = admin_client.get(
            f"/collections/read/questions/{question.key}/", HTTP_HOST="localhost"
        )
        assert question.text in page.content.decode()
    issued = publish_release(collection, tmp_path / "out", NOW)
    assert issued.private is None
    assert {name: loaded(issued.folder, name) for name in sample} == sample


def test_a_later_release_moves_nothing_and_hides_nothing_that_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = pairs()
    publish_release(collection, tmp_path / "out", NOW)
    told = Question.objects.get(split_assignment__split="train-easy")
    SplitAssignment.objects.filter(question=told).delete()
    before = dict(SplitAssignment.objects.values_list("question__key", "split"))
    later = pair_in(collection, "Later", NOW + timedelta(days=1))
    facts = {each.pk: Facts(False, False, 1.0) for each in Question.objects.all()}
    monkeypatch.setattr("annotation.splits.assignment.facts_of", lambda collection, rows: facts)
    make_splits(collection, NOW + timedelta(days=2))
    after = dict(SplitAssignment.objects.values_list("question__key", "split"))
    assert {key: after[key] for key in before} == before
    assert after[told.key] == "train-hard"
    assert later.key in after


def pair_in(collection: Collection, name: str, at: datetime) -> Question:
    """Return one more kept question, asked at this time."""
    question = ask(
        collection, [town(collection.corpus, f"{name}{letter}") for letter in "AB"], name, "bridge"
    )
    Question.objects.filter(pk=question.pk).update(created_at=at)
    return question


def test_a_question_kept_since_the_splits_were_made_is_not_told(issued: PublishedRelease) -> None:
    collection = issued.release.collection
    late = pair_in(collection, "Late", NOW)
    seeds = list(public_records(records(collection), {"test-fullwiki": ()}))
    assert late.text not in json.dumps(seeds)
    assert late.text in json.dumps(list(public_records(records(collection), {})))


def test_withheld_questions_are_in_no_order_of_pairs(issued: PublishedRelease) -> None:
    collection = issued.release.collection
    for number in range(6):
        question = pair_in(collection, f"More{number}", NOW)
        SplitAssignment.objects.create(
            question=question, split="test-fullwiki", reason="So.", placed_at=NOW
        )
        give_context(question, "fullwiki", list(Paragraph.objects.all()[:3]))
    again = publish_release(collection, issued.folder.parent / "again", NOW)
    ids = [item["_id"] for item in loaded(again.folder, TEST)]
    assert ids == sorted(ids)
    typed = read_release(again.folder, issued.folder.parent / "cache")["test_fullwiki"]
    assert [row["id"] for row in typed] == ids
    assert len(ids) == 7
