"""Answers that a release withholds stand in no file that anything is trained with afterwards."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from annotation.baselines.training import check_training, is_private
from annotation.models import SplitAssignment
from annotation.protocols.hotpotqa.file_format import SPLITS, WITHHELD, settings_of
from annotation.protocols.hotpotqa.tests.pairs import ask, give_context, town
from annotation.release.publish_release import beside_release
from annotation.splits.cross_validation import questions_to_judge, table_of
from annotation.splits.kept_questions import examples
from annotation.splits.single_hop_review import decide, draw_sample, undecided
from annotation.tests.making import NOW, make_collection, make_corpus
from collector.models import Collection, Paragraph
from collector.protocols.loading import get_protocol
from readers.trained import ReaderError

pytestmark = pytest.mark.django_db
# Three that may be learned from, so that there is something to judge in three folds.
some_splits = st.lists(st.sampled_from(SPLITS), min_size=1, max_size=6).map(
    lambda drawn: ["train-easy", "train-hard", "dev", *drawn]
)


def collected(splits: Sequence[str]) -> Collection:
    """Return a collection with a kept question in each of these splits.

    Of withheld questions nothing that is read tells the answer: it is in no context.
    """
    corpus = make_corpus()
    collection = make_collection(corpus, protocol="hotpotqa")
    for number in range(3):
        town(corpus, f"Other{number}")
    for number, split in enumerate(splits):
        keep(collection, number, split)
    return collection


def keep(collection: Collection, number: int, split: str) -> None:
    """Have one more question kept in this split."""
    others = list(Paragraph.objects.filter(article__title__startswith="Other"))
    pair = [
        town(collection.corpus, f"{'Hidden' if split in WITHHELD else 'Open'}{number}{letter}")
        for letter in "AB"
    ]
    question = ask(collection, pair, f"Who founded number {number}?", "bridge")
    SplitAssignment.objects.create(question=question, split=split, reason="So.", placed_at=NOW)
    for setting in settings_of(split):
        give_context(question, setting, [*others, *pair] if setting == "distractor" else others)


@contextmanager
def once(splits: Sequence[str]) -> Iterator[tuple[Collection, Path]]:
    """Yield a released collection with a folder for its files; nothing of it stays."""
    with TemporaryDirectory() as name, transaction.atomic():
        collection, folder = collected(splits), Path(name)
        call_command("export_dataset", collection.slug, out=folder / "release", stdout=StringIO())
        table = table_of(collection)
        assert table is not None
        draw_sample(collection, table)
        for worker in undecided(collection):
            decide(collection, worker, False, "rita", timezone.now())
        yield collection, folder
        transaction.set_rollback(True)


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every object in a file of JSON or of JSON lines."""
    text = path.read_text("utf-8")
    waiting = (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else [json.loads(text)]
    )
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
        waiting += (
            each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
        )


@settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate])
@given(some_splits)
def test_no_command_writes_what_is_withheld_into_a_file_to_learn_from(splits: list[str]) -> None:
    with once(splits) as (collection, folder):
        written = folder / "examples.jsonl"
        call_command(
            "judge_difficulty",
            collection.slug,
            examples=written,
            as_multi_hop=True,
            stdout=StringIO(),
        )
        secret = {
            f"Who founded number {number}?"
            for number, split in enumerate(splits)
            if split in WITHHELD
        }
        told = {line["question"] for line in objects(written) if "question" in line}
        assert told.isdisjoint(secret)
        assert len(told) == len(splits) - len(secret)
        read = {each.question for each in examples(questions_to_judge(collection))}
        assert read.isdisjoint(secret)
        # Nor does a later release, or what is released beside the official files.
        keep(collection, len(splits), "train-easy")
        call_command("export_dataset", collection.slug, out=folder / "later", stdout=StringIO())
        for path in folder.glob("[rl]*/*.json*"):
            if is_private(path.parent):
                continue
            for each in objects(path):
                if str(each.get("question")) in secret:
                    assert set(each) == {"_id", "question", "context"}


@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
@given(some_splits, st.sampled_from(["gold.json", "train-more.json", "hotpot_train_v1.1.json"]))
def test_no_file_with_withheld_answers_is_trained_on(splits: list[str], name: str) -> None:
    protocol = get_protocol("hotpotqa")
    with once(splits) as (_, folder):
        release, private = folder / "release", beside_release(folder / "release")
        train, dev = release / "hotpot_train_v1.1.json", release / "hotpot_dev_distractor_v1.json"
        check_training(protocol, [train], dev)
        # Each setting has its file; one of no question withholds nothing.
        golds = [
            path for path in private.glob("hotpot_test_*.json") if json.loads(path.read_text())
        ]
        assert bool(golds) == bool(set(splits) & set(WITHHELD))
        for gold in golds:
            copied = folder / name
            both = json.loads(train.read_text()) + json.loads(gold.read_text())
            copied.write_text(json.dumps(both))
            renamed = shutil.copy(gold, private / "renamed.json")
            for path in (gold, copied, renamed, release / gold.name):
                with pytest.raises(ReaderError) as refused:
                    check_training(protocol, [train, path], dev)
                assert "\n" not in str(refused.value)


def test_the_command_refuses_before_it_makes_anything(tmp_path: Path) -> None:
    with once(["train-easy", "train-hard", "dev", "test-fullwiki"]) as (_, folder):
        gold = beside_release(folder / "release") / "hotpot_test_fullwiki_v1.json"
        with pytest.raises(CommandError, match="the answers in this folder are withheld"):
            call_command(
                "baseline",
                "anything",
                protocol="hotpotqa",
                train=[gold],
                dev=folder / "release" / "hotpot_dev_distractor_v1.json",
                out=tmp_path / "out",
            )
        assert not (tmp_path / "out").exists()
