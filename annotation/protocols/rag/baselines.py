"""Baselines: BM25 and tf-idf search all passages of a release's corpus for each question."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from annotation.metrics.result import Result, ScoreError, read_file
from annotation.protocols.rag.export import CORPUS
from annotation.protocols.rag.official_records import parse
from annotation.protocols.rag.scoring import Predictions, read_gold, scored
from collector.retrieval.passages import PassageIndex, build

BM25, TF_IDF = "bm25", "tf-idf"
BASELINES = (BM25, TF_IDF)
# Passages per question, as many as in BEIR's own runs.
DEPTH = 100


def run(name: str, predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write a baseline's run in TREC's format as a new file, and return its scores.

    The corpus is the file beside `gold`. Raises ScoreError naming the file.
    """
    _learns_nothing(name, options)
    with _indexed(gold) as (index, ids):
        return _run(name, predictions, gold, index, ids)


def run_all(folder: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write both runs into a new folder, and return one table."""
    _learns_nothing("all", options)
    with _indexed(gold) as (index, ids):
        try:
            folder.mkdir(parents=True)
        except OSError:
            raise ScoreError(f"{folder} cannot be made; name a new folder.") from None
        results = {
            name: _run(name, folder / f"{name}.trec", gold, index, ids) for name in BASELINES
        }
    first = results[BM25]
    rows = [[name, *row] for name, result in results.items() for row in result["rows"]]
    groups = {name: result["official"] for name, result in results.items()}
    columns = ["baseline", *first["columns"]]
    return {**first, "groups": groups, "columns": columns, "rows": rows}


def _learns_nothing(name: str, options: Mapping[str, object]) -> None:
    if "train" in options or "seed" in options:
        raise ScoreError(f"{name} learns nothing and draws nothing: leave out --train and --seed.")


@contextmanager
def _indexed(gold: Path) -> Iterator[tuple[PassageIndex, list[str]]]:
    """Yield the index of the corpus beside `gold`, and the ids of its passages in their order."""
    ids: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder), _texts(gold.with_name(CORPUS), ids))
        yield PassageIndex(path), ids


def _texts(corpus: Path, ids: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (position, title + heading + text) of each passage, and append its id to `ids`."""
    for number, line in enumerate(read_file(corpus).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            passage = json.loads(line)
            section = passage.get("metadata", {}).get("section", "")
            words = "\n".join((passage["title"], section, passage["text"]))
            ids.append(passage["_id"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ScoreError(
                f"{corpus}: line {number} is no passage; give the corpus of a release."
            ) from None
        yield len(ids) - 1, words


def _run(name: str, predictions: Path, gold: Path, index: PassageIndex, ids: list[str]) -> Result:
    questions = read_gold(gold)
    search = {BM25: index.search, TF_IDF: index.search_tf_idf}[name]
    found = {
        question["id"]: {ids[hit.text]: hit.score for hit in search(question["question"], DEPTH)}
        for about in parse(str(gold), read_file(gold))["data"]
        for question in about["qas"]
    }
    try:
        with predictions.open("x", encoding="utf-8") as file:
            for query, passages in found.items():
                for rank, (passage, value) in enumerate(passages.items(), 1):
                    file.write(f"{query} Q0 {passage} {rank} {value!r} {name}\n")
    except FileExistsError:
        raise ScoreError(
            f"{predictions} is there already; a baseline writes its run: name a new file."
        ) from None
    except OSError as error:
        raise ScoreError(f"{predictions}: it cannot be written ({error.strerror}).") from None
    return scored(questions, Predictions(found, {}))
