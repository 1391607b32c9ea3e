"""Short names: one rule, in the model, in the database and wherever a file is named by one."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction

from annotation.release import release_folder
from collector.graph import files as graphs
from collector.models import Collection, Corpus, LinkGraph
from collector.retrieval import files as indexes
from common.safe_files import OutsideError, inside
from tasks.tests.making import make_collection, make_corpus
from tests.serving import ROOT

SAMPLE = ROOT / "deploy" / "sample" / "quarnsey.xml"
BAD = ["", ".", "..", "pilot.v2", "../evil", "a/b", "-rf", "_x", "new", "é", "a b", "a\n", "x" * 81]
GOOD = ["a", "2", "pilot-2", "News", "new-2", "a_b", "x" * 80]


@pytest.mark.django_db
@pytest.mark.parametrize("name", BAD)
def test_no_way_leads_to_a_name_that_is_none(name: str) -> None:
    corpus = make_corpus()
    for line in (
        ["create_collection", "--protocol=iirc", f"--corpus={corpus.slug}", "--", name],
        ["ingest_dump", "--json", "--processes=1", f"--corpus={name}", str(SAMPLE)],
    ):
        with pytest.raises(CommandError, match="short name"):
            call_command(*line)
    for model in (Collection, Corpus):
        with pytest.raises(DatabaseError), transaction.atomic():
            name_row(model, name)


def name_row(model: type[Any], name: str) -> None:
    """Give a row this name, past everything but the database."""
    corpus = Corpus.objects.first() or make_corpus()
    made = make_collection(corpus, slug="before") if model is Collection else corpus
    model.objects.filter(pk=made.pk).update(slug=name)


@pytest.mark.django_db
def test_good_names_are_taken() -> None:
    corpus = make_corpus()
    for name in GOOD:
        call_command("create_collection", name, protocol="iirc", corpus=corpus.slug, json=True)


@pytest.mark.pure
def test_every_file_stays_in_its_folder(tmp_path: Path) -> None:
    assert inside(tmp_path, "pilot") == tmp_path.resolve() / "pilot"
    for name in ("", ".", "..", "../evil", "a/b", "/etc/passwd"):
        with pytest.raises(OutsideError):
            inside(tmp_path, name)
    escaped = Corpus(slug="../../escaped")
    with pytest.raises(OutsideError):
        graphs.path_of(LinkGraph(corpus=escaped, sha256="0" * 64))
    with pytest.raises(OutsideError):
        indexes.folder_of(escaped)
    with pytest.raises(OutsideError):
        release_folder.put(tmp_path, "../evil.json", [b"{}"])
