"""A fold of cross-validation by the built-in reader: CPU and memory as examples grow tenfold."""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from deploy.benchmarks.ingest import SAMPLE
from readers.reader import Example, Text, asked, write_examples

ROOT = Path(__file__).resolve().parent.parent.parent
OFFICIAL = "official/hotpotqa/reflexion_100_distractor_official_nesting.json"
SIZES = (1_000, 10_000, 90_000)
FOLDS = 3
_SENTENCE = re.compile(r"[A-Z][^.<>{}\n]{20,300}\.")
# Printed by the process itself at its end: seconds of CPU, megabytes at most.
CHILD = """
import resource, sys
from pathlib import Path
from readers.__main__ import main
main(Path(sys.argv[1]))
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def main() -> None:
    """Print the table."""
    sentences = _sentences()
    print(f"readers: one of {FOLDS} folds, one core; texts of {len(sentences)} real sentences")
    print("  examples   CPU s   ms each   MB at most   right")
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="collector-bench-") as folder:
            seconds, megabytes, right = _fold(Path(folder), sentences, size)
        each = 1000 * seconds / size
        print(f"  {size:8,} {seconds:7.1f} {each:9.2f} {megabytes:12.0f} {right:8.1%}")


def _fold(folder: Path, sentences: list[str], size: int) -> tuple[float, float, float]:
    n_asked = size // FOLDS
    gold: dict[str, str] = {}

    def noted(rows: Iterator[Example]) -> Iterator[Example]:
        for row in rows:
            gold[row.key] = row.answer
            yield asked(row)

    rows = _examples(sentences, size)
    n_train = write_examples(folder / "train.jsonl", islice(rows, size - n_asked))
    write_examples(folder / "asked.jsonl", noted(rows))
    work = {"reader": "light", "rng": "1", "n_train": n_train, "n_asked": n_asked}
    (folder / "work.json").write_text(json.dumps(work))
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, megabytes = map(float, ended.stdout.split())
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    right = sum(row["answer"] == gold[row["id"]] for row in map(json.loads, lines))
    return seconds, megabytes, right / n_asked


def _examples(sentences: list[str], number: int) -> Iterator[Example]:
    """Yield examples of the released ones' size: two texts of some sentences, words of both."""
    rng = random.Random(5)
    for at in range(number):
        texts = tuple(_text(rng, sentences) for _ in range(2))
        place = rng.choice(texts[1].sentences)
        words = texts[1].text[slice(*place)].split()
        start = rng.randrange(len(words))
        answer = " ".join(words[start : start + rng.randint(1, 3)]).strip(" .,;:()\"'")
        about = rng.sample(texts[0].text.split(), 6) + words[:start][-4:]
        question = f"Which {' '.join(about)}?"
        if at % 16 == 0:
            question, answer = f"Are {' '.join(about)}?", rng.choice(["yes", "no"])
        yield Example(f"{at:06}", question, texts, answer or words[0], ((0, 0), (1, 0)))


def _text(rng: random.Random, sentences: list[str]) -> Text:
    text, places = "", []
    for sentence in rng.sample(sentences, rng.randint(2, 5)):
        places.append((len(text), len(text) + len(sentence)))
        text += sentence
    return Text(" ".join(text.split()[:3]), text, tuple(places))


def _sentences() -> list[str]:
    data = os.environ.get("COLLECTOR_DATA", "")
    path = Path(data) / OFFICIAL
    if data and path.exists():
        items = json.loads(path.read_text("utf-8"))
        found = {line for item in items for _, lines in item["context"] for line in lines}
    else:
        found = set(_SENTENCE.findall(SAMPLE.read_text("utf-8")))
    return sorted(line for line in found if len(line.split()) > 3)


if __name__ == "__main__":
    main()
