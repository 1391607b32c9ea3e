"""Whatever command: nothing is learned from answers that a protocol withholds."""

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from celery import Task
from django.core.management import CommandError, call_command

from annotation import jobs
from annotation.baselines import __main__ as trained_by_jobs
from annotation.baselines.tests.toy import FILES, make_protocol, write_sums
from annotation.management import commands
from annotation.models import Release
from annotation.protocols.contracts import EXPORT, RANKERS
from annotation.release.release_files import PRIVATE_CARD
from annotation.tests.making import NOW, make_collection, make_corpus
from collector.models import Collection
from collector.protocols.loading import all_protocols
from readers.trained import ReaderError

# Take files that something learns from: each way of theirs is tried here.
LEARN = {"baseline", "score", "make_combined"}
# Learn, or write files to learn from, out of rows: what they tell is looked at in the tests of the
# protocols that withhold.
TELL = {"export_dataset", "judge_difficulty", "fold", "release"}
# Write files to learn from for protocols that withhold nothing: the papers' files have all sets.
TELL_ALL = {"rank_passages"}
DO_NEITHER = {
    "compare_releases": "reads what two releases publish",
    "doctor": "compares rows with one another, and mends them",
    "finish_collection": "changes rows",
    "import_dataset": "reads files into rows, each with its split",
    "import_results": "reads results into rows",
    "make_splits": "changes rows",
    "replay_log": "makes a release by export_dataset's own code",
    "rehearse": "walks simulated workers through a copy, which is thrown away",
    "report": "tells whoever collects; its sample is to be labelled by hand",
    "validate_answers": "changes rows",
    "look_after_collection": "changes rows",
    "look_after_what_is_due": "begins other jobs",
    "remove_left_files": "removes files",
    "do_long_work": "does what a row asks for, by the name of its kind",
    "upload": "reads texts into rows",
    "rehearsal": "walks simulated workers through a copy, which is thrown away",
    "cross-validation": "changes rows",
}
EXPORT_PART = '''"""Withholds the answers of its test split."""
import json
from types import SimpleNamespace

SPLITS = ("train", "test")
WITHHELD = {"test": ()}


def published(files):
    seeds = []
    for name, content in files.items():
        split = "test" if "test" in name else "train"
        rows = json.loads(content)
        seeds.append({"questions": [{"id": row["id"], "split": split} for row in rows]})
    return SimpleNamespace(seeds=seeds)


def files(seeds_by_split):
    raise NotImplementedError


gold = files
'''
LIGHT = """
BASELINES = ("light",)


def run(name, predictions, gold, options):
    raise AssertionError("It learned.")


def run_all(folder, gold, options):
    raise AssertionError("It learned.")
"""
COMBINED_PART = '''"""Beside other sums."""

SOURCES = {"others": "a file of other sums"}


def combine(corpus, release, sources, folder, seed, report):
    raise AssertionError("It was combined.")
'''


def test_of_every_command_and_job_it_is_known_what_learns_from_it() -> None:
    found = {path.stem for path in Path(commands.__file__).parent.glob("*.py")} - {"__init__"}
    found |= {name for name, each in vars(jobs).items() if isinstance(each, Task)}
    found |= set(jobs.LONG_WORK)
    assert found == {*LEARN, *TELL, *TELL_ALL, *DO_NEITHER}


def test_what_writes_all_sets_is_of_protocols_that_withhold_none() -> None:
    ranking = [protocol for protocol in all_protocols() if protocol.has(RANKERS)]
    assert ranking
    assert not any(protocol.part(EXPORT).WITHHELD for protocol in ranking)


@pytest.fixture
def release(tmp_path: Path, settings: Any) -> Path:
    """Return a release of a made-up protocol that withholds, its private part beside it."""
    folder = make_protocol(tmp_path / "protocols")
    (folder / "export.py").write_text(EXPORT_PART)
    (folder / "combined.py").write_text(COMBINED_PART)
    (folder / "baselines" / "__init__.py").write_text(FILES["baselines/__init__.py"] + LIGHT)
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, folder.parent]
    made, private = tmp_path / "release", tmp_path / "release-private"
    made.mkdir()
    private.mkdir()
    (private / "README.md").write_text(PRIVATE_CARD)
    for name in ("train.json", "dev.json"):
        write_sums(made / name, 4, 1)
    write_sums(made / "test.json", 4, 2, answered=False)
    write_sums(private / "test.json", 4, 2)
    return made


WAYS = ("as it is", "renamed", "linked to", "copied beside", "among others")


def handed(way: str, release: Path) -> Path:
    """Return a file with withheld answers, as somebody may hand it to a command."""
    gold = release.with_name("release-private") / "test.json"
    path = {
        "as it is": gold,
        "renamed": gold.with_name("more.json"),
    }.get(way, release / "more.json")
    if way == "linked to":
        path.symlink_to(gold)
    elif way == "among others":
        train = json.loads((release / "train.json").read_text())
        path.write_text(json.dumps(train + json.loads(gold.read_text())))
    elif path != gold:
        shutil.copy(gold, path)
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("way", WAYS)
def test_no_command_learns_from_withheld_answers(way: str, release: Path, tmp_path: Path) -> None:
    path, out = handed(way, release), tmp_path / "out"
    dev = release / "dev.json"
    collection = make_collection(make_corpus())
    Collection.objects.filter(pk=collection.pk).update(protocol="sums")
    Release.objects.create(collection=collection, number=1, folder=str(release), created_at=NOW)
    ordered = {"protocol": "sums", "train": [release / "train.json", path], "dev": dev, "out": out}
    calls = {
        "baseline": (("baseline", "adder"), ordered),
        "baseline --estimate": (("baseline", "adder"), {**ordered, "estimate": True}),
        "score": (
            ("score", out, dev),
            {"protocol": "sums", "baseline": "light", "train": path},
        ),
        "score all": (("score", out, dev), {"protocol": "sums", "baseline": "all", "train": path}),
        "make_combined": (("make_combined", collection.slug), {"others": path, "out": out}),
    }
    for name, (given, options) in calls.items():
        with pytest.raises(CommandError, match="withheld") as refused:
            call_command(*map(str, given), stdout=StringIO(), stderr=StringIO(), **options)
        assert "\n" not in str(refused.value), name
        assert not out.exists()


@pytest.mark.parametrize("way", WAYS)
def test_nor_does_a_job(way: str, release: Path, tmp_path: Path) -> None:
    path = handed(way, release)
    work = {"protocol": "sums", "name": "adder", "recipe": "small", "seed": 1}
    work |= {"train": [str(release / "train.json"), str(path)], "dev": str(release / "dev.json")}
    (tmp_path / "work.json").write_text(json.dumps(work))
    with pytest.raises(ReaderError, match="withheld"):
        trained_by_jobs.main(tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("folder", ["release-private", "release"])
def test_from_a_release_none_learns_what_stands_in_its_private_part(
    folder: str, release: Path, tmp_path: Path
) -> None:
    shutil.copy(release.with_name("release-private") / "test.json", release / "train.json")
    asked = release.with_name(folder)
    for name in ("train.json", "dev.json"):
        if asked != release:
            write_sums(asked / name, 4, 1)
    with pytest.raises(CommandError, match="withheld"):
        call_command("baseline", "all", protocol="sums", release=asked, out=tmp_path / "out")
