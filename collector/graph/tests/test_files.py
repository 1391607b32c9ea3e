"""A corpus's graph is built once, whole or not at all, and again when the corpus has changed."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.graph import files, graph_builder
from collector.graph.files import build_graph, graph_of, path_of
from collector.graph.graph_file import Graph, GraphError
from collector.graph.tests.making import EDGES, ISLANDS, make_islands
from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.tests.dumps import dump, write
from collector.models import Article, Corpus, LinkGraph

pytestmark = pytest.mark.django_db


@pytest.fixture
def islands(tmp_path: Path, settings: Any) -> Corpus:
    settings.HOME = tmp_path
    return make_islands(tmp_path)


def edges(graph: Graph) -> dict[str, set[str]]:
    """Return who leads to whom by titles."""
    titles = Article.objects.in_bulk(graph.articles.tolist())
    names = [titles[article].title for article in graph.articles.tolist()]
    found = {names[a]: {names[b] for b in graph.targets(a)} for a in range(graph.n_nodes)}
    for b in range(graph.n_nodes):
        assert {names[a] for a in graph.sources(b)} == {a for a in found if names[b] in found[a]}
        assert graph.in_degrees([b]) == [len(graph.sources(b))]
    return {name: reached for name, reached in found.items() if reached}


def built(corpus: Corpus, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("build_graph", corpus.slug, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def test_links_of_first_paragraphs_lead_through_redirects_to_first_paragraphs(islands) -> None:
    assert edges(graph_of(islands)) == EDGES


def test_several_processes_write_the_same_bytes(islands: Corpus, monkeypatch: Any) -> None:
    monkeypatch.setattr(graph_builder, "NODES_AT_ONCE", 2)
    monkeypatch.setattr(graph_builder, "EDGES_AT_ONCE", 2)
    one = built(islands, processes=1)
    Path(one["file"]).unlink()
    two = built(islands, processes=2)
    assert two["built"]
    assert two["sha256"] == one["sha256"]
    assert (two["n_nodes"], two["n_edges"]) == (4, 4)


def test_a_second_run_does_nothing_and_mends_a_damaged_file(islands: Corpus) -> None:
    first = built(islands, processes=1)
    assert first["built"]
    assert not built(islands, processes=1)["built"]
    path = Path(first["file"])
    path.write_bytes(path.read_bytes()[:-100])
    assert built(islands, processes=1)["built"]
    assert path.stat().st_size == first["size_bytes"]


def test_who_dies_half_way_leaves_nothing_that_is_read(islands: Corpus, monkeypatch: Any) -> None:
    def dies(*arguments: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(graph_builder.graph_file, "create", dies)
        with pytest.raises(MemoryError):
            build_graph(islands)
    assert not LinkGraph.objects.exists()
    # A killed process takes nothing away behind itself.
    left = files._folder() / "islands.building"
    left.mkdir()
    (left / "paragraphs.column").write_bytes(b"half")
    assert edges(graph_of(islands)) == EDGES
    assert not left.exists()


def test_a_corpus_that_has_grown_gets_another_graph(islands: Corpus, tmp_path: Path) -> None:
    before, _ = build_graph(islands)
    old = path_of(before)
    more = dump({"Port": "'''Port''' is in [[Hollin]].", "Ada": "Again."}).replace(
        "<id>1<", "<id>99<"
    )
    ingest_files([write(tmp_path / "more.xml", more)], CorpusOptions(slug="islands"))
    assert edges(graph_of(islands)) == {**EDGES, "Port": {"Hollin"}}
    assert not old.exists()


def test_a_large_corpus_asks_for_the_command(islands: Corpus, monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "BUILT_ON_DEMAND", len(ISLANDS) - 2)
    with pytest.raises(GraphError, match="build_graph islands"):
        graph_of(islands)


def test_what_cannot_be_built_is_one_clear_line(islands: Corpus, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--processes must be 1 or more"):
        built(islands, processes=0)
    Corpus.objects.update(state="failed")
    with pytest.raises(CommandError, match="is not ready"):
        built(islands)
    (tmp_path / "x.graph").write_bytes(b"nothing")
    with pytest.raises(GraphError, match="build it again"):
        Graph(tmp_path / "x.graph")
