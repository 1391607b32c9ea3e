"""All paragraphs of a corpus are searched, once its index is built, and never stale."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from collector.graph.tests.making import make_islands
from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.tests.dumps import dump, write
from collector.models import Corpus, Paragraph
from collector.retrieval.index import RetrievalError
from collector.retrieval.passages import build_passages, search

pytestmark = pytest.mark.django_db
PAGES = {
    "Quarnsey": "An island.\n\n== Harbour ==\n\nThe lighthouse has two keepers.\n* A quay\n",
    "Sark": "A tower by the sea. See [[Quarnsey]].",
}


def test_any_paragraph_is_found_by_its_words_its_heading_and_its_title(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    corpus = make_islands(tmp_path, PAGES)
    with pytest.raises(RetrievalError, match=r"run .* build_index islands --paragraphs"):
        search(corpus, "keepers", 5)
    out = StringIO()
    call_command("build_index", corpus.slug, paragraphs=True, stdout=out)
    assert out.getvalue().startswith("Built: 4 paragraphs, ")
    assert build_passages(corpus)[1] is False
    (found,) = search(corpus, "How many KEEPERS?", 5)
    assert Paragraph.objects.get(pk=found.paragraph_id).text == "The lighthouse has two keepers."
    assert {each.paragraph_id for each in search(corpus, "harbour", 5)} == set(
        Paragraph.objects.filter(section__heading="Harbour").values_list("pk", flat=True)
    )
    assert len(search(corpus, "quarnsey", 9)) == 4
    more = dump({"Cove": "A bay."}).replace("<id>1<", "<id>99<")
    ingest_files([write(tmp_path / "more.xml", more)], CorpusOptions(slug=corpus.slug))
    corpus.refresh_from_db()
    with pytest.raises(RetrievalError):
        search(corpus, "bay", 5)
    build_passages(corpus)
    assert len(search(corpus, "bay", 5)) == 1
    ingest_files([write(tmp_path / "one.xml", dump(PAGES))], CorpusOptions(slug="other"))
    half_read = Corpus.objects.get(slug="other")
    half_read.state = "ingesting"
    with pytest.raises(RetrievalError, match="other is not ready"):
        build_passages(half_read)
