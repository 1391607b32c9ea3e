"""A corpus's index is built once, whole or not at all, and again when the corpus has changed."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.graph.tests.making import EDGES, make_islands
from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.tests.dumps import dump, write
from collector.models import Corpus, Paragraph
from collector.retrieval import files
from collector.retrieval.files import index_of, path_of
from collector.retrieval.index import RetrievalError

pytestmark = pytest.mark.django_db


@pytest.fixture
def islands(tmp_path: Path, settings: Any) -> Corpus:
    settings.HOME = tmp_path
    return make_islands(tmp_path)


def told(corpus: Corpus) -> str:
    out = StringIO()
    call_command("build_index", corpus.slug, stdout=out)
    return out.getvalue()


def test_first_paragraphs_alone_are_found(islands: Corpus) -> None:
    index = index_of(islands)
    found = [int(index.ids[each.text]) for each in index.search("not Mercury", 9)]
    texts = Paragraph.objects.in_bulk(found)
    assert [text.article.title for text in texts.values()] == ["Quarnsey"]
    assert index.n_texts == len(EDGES)


def test_a_second_run_does_nothing_and_a_changed_corpus_is_built_anew(
    islands: Corpus, tmp_path: Path
) -> None:
    assert told(islands).startswith("Built: 4 first paragraphs, ")
    before = path_of(islands)
    assert told(islands).startswith("Nothing to do, it is there: 4 first paragraphs, ")
    more = dump({"Cove": "It is a bay."}).replace("<id>1<", "<id>99<")
    ingest_files([write(tmp_path / "more.xml", more)], CorpusOptions(slug=islands.slug))
    islands.refresh_from_db()
    assert told(islands).startswith("Built: 5 first paragraphs, ")
    assert not before.exists()
    assert index_of(islands).n_texts == 5
    out = StringIO()
    call_command("build_index", "islands", json=True, stdout=out)
    found = json.loads(out.getvalue())
    assert (found["built"], found["n_texts"]) == (False, 5)
    assert Path(found["file"]).stat().st_size == found["size_bytes"]


def test_what_cannot_be_indexed_is_one_clear_line(islands: Corpus, monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "BUILT_ON_DEMAND", 3)
    with pytest.raises(RetrievalError, match=r"manage\.py build_index islands, then try again"):
        index_of(islands)
    Corpus.objects.update(state="ingesting")
    with pytest.raises(CommandError, match="run its ingest_dump again to the end first"):
        told(islands)
    with pytest.raises(CommandError, match="There is no corpus 'nowhere'"):
        call_command("build_index", "nowhere")


def test_a_question_without_blanks_finds_what_shares_its_characters(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    texts = {
        "Bridge": "石桥由当地石匠修建。",
        "Harbour": "港口由渔民挖掘，旁边有石桥。",
        "Lamp": "灯塔在北方。",
        "Mill": "磨坊属于两兄弟。",
        "Ferry": "渡船每天开两次。",
    }
    path = write(tmp_path / "zh.xml", dump(texts))
    ingest_files([path], CorpusOptions(slug="chinese", language="zh"))
    corpus = Corpus.objects.get(slug="chinese")
    index = index_of(corpus)
    found = [int(index.ids[each.text]) for each in index.search("谁修建了石桥？", 9)]
    told = Paragraph.objects.in_bulk(found)
    assert [told[each].article.title for each in found] == ["Bridge", "Harbour"]
    assert len(index.filter("谁修建了石桥？", 9)) == 2
