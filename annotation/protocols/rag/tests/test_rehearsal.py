"""A rehearsal has a home of its own, in which its readers can search as they will on the site."""

from pathlib import Path
from typing import Any

import pytest

from annotation.rehearsal import walk
from collector.models import Collection
from collector.models.corpus import CorpusState
from collector.retrieval import passages
from common.actions import ActionError

pytestmark = pytest.mark.django_db


def test_in_the_empty_home_of_a_rehearsal_a_search_finds_passages(
    collection: Collection, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HOME = tmp_path / "home of the copy"
    monkeypatch.setattr(walk, "load_copy", lambda copy: collection)
    loaded = walk.load_indexed(tmp_path / "copy.jsonl")
    assert passages.search(loaded.corpus, "lighthouse Carrow", 3)
    settings.HOME = tmp_path / "home of the next"
    collection.corpus.state = CorpusState.INGESTING
    with pytest.raises(ActionError, match="is not ready"):
        walk.load_indexed(tmp_path / "copy.jsonl")
