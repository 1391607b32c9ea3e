"""Retrieval over first paragraphs, beside tantivy, SQLite's FTS5 and the printed Algorithm 2."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from collector.ingest.dump import Dump
from collector.ingest.records import PageRecord, read_records
from collector.retrieval.files import build
from collector.retrieval.index import Index
from collector.retrieval.terms import grams, words
from deploy.benchmarks.ingest import SAMPLE

LEVELS = (10**4, 10**5, 10**6)
QUERIES = 200
# Slower references are asked at most so often, and only up to a size.
SLOW_QUERIES, SLOW_LEVEL = 40, 10**5
AT_MOST = 5000
BEST = 10
FILES = (
    "official/hotpotqa/reflexion_100_distractor_official_nesting.json",
    "replay/hotpot_amor_test500.json",
)
LEAST_CHARACTERS = 80
LEVELS_VARIABLE = "RETRIEVAL_LEVELS"


def main() -> None:
    """Print a table for each size: what building costs, and how long a question takes."""
    levels = [int(each) for each in os.environ.get(LEVELS_VARIABLE, "").split()] or LEVELS
    with tempfile.TemporaryDirectory(prefix="collector-bench-") as folder:
        texts, questions, n_real = _texts(Path(folder), max(levels))
        print(f"retrieval: {n_real:,} real paragraphs, beyond them sentences in another order")
        for level in levels:
            _level(Path(folder), texts, level, questions)


def _level(folder: Path, path: Path, level: int, questions: list[str]) -> None:
    """Print the rows of one size, every library in a process of its own."""
    print(f"{level:,} paragraphs, {len(questions)} questions, the best {BEST}")
    ours = _child("ours", folder, path, level, questions)
    tantivy = _child("tantivy_", folder, path, level, questions)
    size = f"{ours['bytes'] / ours['postings']:.2f} bytes a posting"
    ratio = f"{ours['build'] / tantivy['build']:.2f} × tantivy's"
    print(f"  build: {ours['build']:.1f} CPU s, {ratio} {tantivy['build']:.1f}; {size}")
    for name, times in (
        ("bigram tf-idf", ours["search"]),
        ("Algorithm 2, then tf-idf", ours["whole"]),
        ("tantivy", tantivy["search"]),
    ):
        print(f"  {name:26}{_at(times, 0.5):8.1f} ms p50{_at(times, 0.95):8.1f} ms p95")
    print(f"  a process that searches holds {ours['held'] / 1e6:.0f} MB of its own")
    if level > SLOW_LEVEL:
        return
    literal = _child("literal", folder, path, level, questions[:SLOW_QUERIES])
    equal = literal["found"] == ours["found"][:SLOW_QUERIES]
    faster = sum(literal["search"]) / sum(ours["filter"][:SLOW_QUERIES])
    print(
        f"  Algorithm 2 by dictionaries{_at(literal['search'], 0.5):7.1f} ms p50; ours is "
        f"{faster:.1f} × faster, {'the same candidates' if equal else 'OTHER CANDIDATES'}"
    )
    fts5 = _child("fts5", folder, path, level, questions[:SLOW_QUERIES])
    times = fts5["search"]
    print(f"  {'SQLite FTS5':26}{_at(times, 0.5):8.1f} ms p50{_at(times, 0.95):8.1f} ms p95")


def _child(name: str, folder: Path, path: Path, level: int, questions: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "deploy.benchmarks.retrieval", name, str(folder), str(path)]
    done = subprocess.run(
        [*command, str(level)],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{name} at {level:,} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def ours(folder: Path, texts: Callable[[], Iterator[str]], questions: list[str]) -> dict[str, Any]:
    """Return what our index costs: CPU seconds, bytes, postings, milliseconds."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        began = time.process_time()
        path = build(Path(place), enumerate(texts()))
        building = time.process_time() - began
        index = Index(path)
        held = _held()
        search = [_timed(lambda each=each: index.search(each, BEST)) for each in questions]
        filtered = [_timed(lambda each=each: index.filter(each, AT_MOST)) for each in questions]
        whole = [
            _timed(lambda each=each: index.rank(each, index.filter(each, AT_MOST))[:BEST])
            for each in questions
        ]
        return {
            "build": building,
            "bytes": path.stat().st_size,
            "postings": index.n_postings,
            "search": [spent for _, spent in search],
            "filter": [spent for _, spent in filtered],
            "whole": [spent for _, spent in whole],
            "found": [found.tolist() for found, _ in filtered],
            "held": _held() - held,
        }


def tantivy_(
    folder: Path, texts: Callable[[], Iterator[str]], questions: list[str]
) -> dict[str, Any]:
    """Return what tantivy costs with BM25 over the words of the same tokenizer."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="default")
    builder.add_unsigned_field("id", stored=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        before = os.times()
        index = tantivy.Index(builder.build(), path=place)
        writer = index.writer(num_threads=1)
        for number, text in enumerate(texts()):
            writer.add_document(tantivy.Document(body=text, id=number))
        writer.commit()
        writer.wait_merging_threads()
        after = os.times()
        index.reload()
        searcher = index.searcher()
        search = []
        for question in questions:
            query = index.parse_query(" ".join(filter(str.isalnum, words(question))), ["body"])
            search.append(_timed(lambda query=query: searcher.search(query, BEST).hits)[1])
        return {"build": sum(after[:2]) - sum(before[:2]), "search": search}


def fts5(folder: Path, texts: Callable[[], Iterator[str]], questions: list[str]) -> dict[str, Any]:
    """Return what SQLite's full-text index costs with BM25 over any of the words."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        database = sqlite3.connect(Path(place) / "fts5")
        database.execute("CREATE VIRTUAL TABLE paragraphs USING fts5(body, content='')")
        database.executemany(
            "INSERT INTO paragraphs(rowid, body) VALUES (?, ?)", enumerate(texts(), 1)
        )
        database.commit()
        statement = "SELECT rowid FROM paragraphs WHERE paragraphs MATCH ? ORDER BY rank LIMIT ?"
        search = []
        for question in questions:
            query = " OR ".join(f'"{word}"' for word in words(question) if word.isalnum())
            found = _timed(
                lambda query=query: database.execute(statement, (query, BEST)).fetchall()
            )
            search.append(found[1])
        return {"search": search}


def literal(
    folder: Path, texts: Callable[[], Iterator[str]], questions: list[str]
) -> dict[str, Any]:
    """Return what Algorithm 2 costs as it is printed, and what it finds (HotpotQA C.1)."""
    inverted: dict[str, list[int]] = {}
    for number, text in enumerate(texts()):
        for gram in dict.fromkeys(grams(text)):
            inverted.setdefault(gram, []).append(number)
    found = [_timed(lambda each=each: _printed(inverted, each)) for each in questions]
    return {
        "search": [spent for _, spent in found],
        "found": [candidates for candidates, _ in found],
    }


def _printed(inverted: dict[str, list[int]], question: str) -> list[int]:
    least = 0
    while True:
        least += 1
        overlap: Counter[int] = Counter()
        for gram in set(grams(question)):
            overlap.update(inverted.get(gram, ()))
        candidates = [number for number, shared in overlap.items() if shared >= least]
        if len(candidates) <= AT_MOST:
            return sorted(candidates)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what `work` returns, and how many milliseconds it took."""
    began = time.perf_counter()
    found = work()
    return found, 1000 * (time.perf_counter() - began)


def _at(times: list[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))]


def _held() -> int:
    """Return the bytes of memory that the process shares with no file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def _texts(folder: Path, most: int) -> tuple[Path, list[str], int]:
    """Write the paragraphs, one a line; return the file, questions, and how many are real."""
    rng = random.Random(7)
    contexts, questions = _hotpotqa()
    real = list(dict.fromkeys([*contexts, *islice(_paragraphs(), most)]))
    rng.shuffle(real)
    sentences = [each for text in real for each in text.split(". ")]
    path = folder / "texts"
    with path.open("w") as file:
        for number in range(most):
            text = real[number] if number < len(real) else ". ".join(rng.sample(sentences, 4))
            file.write(" ".join(text.split()) + "\n")
    if not questions:
        questions = [" ".join(rng.sample(rng.choice(real).split(), 6)) for _ in range(QUERIES)]
    return path, rng.sample(questions, min(QUERIES, len(questions))), min(most, len(real))


def _hotpotqa() -> tuple[list[str], list[str]]:
    """Return the paragraphs and the questions of real files of the dataset, where they are."""
    texts, questions = [], []
    for name in FILES:
        path = Path(os.environ.get("COLLECTOR_DATA", "/nowhere")) / name
        for item in json.loads(path.read_bytes()) if path.exists() else ():
            questions.append(item["question"])
            texts += ["".join(sentences) for _, sentences in item["context"]]
    return texts, questions


def _paragraphs() -> Iterator[str]:
    """Yield the running text of the dumps at hand, or of the sample."""
    data = os.environ.get("COLLECTOR_DATA")
    dumps = sorted(Path(data).glob("wiki/enwiki-*.bz2")) if data else [SAMPLE]
    for path in dumps:
        dump = Dump(path, threads=1)
        for batch in read_records(dump, dump.site, 1):
            for record in batch:
                if isinstance(record, PageRecord):
                    texts = (text for _, _, text, _ in record.paragraphs)
                    yield from (text for text in texts if len(text) >= LEAST_CHARACTERS)


def _run(name: str, folder: str, path: str, level: str) -> None:
    """Measure one of the functions above and print what it returns."""

    def texts() -> Iterator[str]:
        with Path(path).open() as file:
            yield from islice(file, int(level))

    print(json.dumps(globals()[name](Path(folder), texts, json.load(sys.stdin))))


if __name__ == "__main__":
    # With arguments it is the process of its own that one measurement is made in.
    if sys.argv[1:]:
        _run(*sys.argv[1:])
    else:
        main()
