"""How many real questions of HotpotQA the built-in reader answers, by cross-validation.

COLLECTOR_DATA=… .venv/bin/python -m deploy.benchmarks.light_reader prints the table; with `--write`
it trains the reader that is delivered, on the gold paragraphs of all of them.
"""

import json
import os
import random
import sys
from pathlib import Path
from statistics import fmean, stdev

from annotation.metrics.token_overlap import exact_match, token_f1
from annotation.protocols.hotpotqa.tests.real import examples
from annotation.protocols.reader_hints import WEIGHTS
from readers.light.light_reader import LightReader
from readers.reader import Example, Prediction, asked

FOLDS = 5
# Which questions are together in a fold moves the figures by one or two: they are means of several.
FOLDINGS = 4


SETTINGS = (("the two gold paragraphs", False), ("and eight others", True))


def main() -> None:
    """Print the table, or write the reader that is delivered."""
    data = Path(os.environ["COLLECTOR_DATA"])
    if "--write" in sys.argv:
        reader = LightReader()
        reader.fit(examples(data, distracted=False), random.Random(1))
        WEIGHTS.write_text(json.dumps(reader.as_json(), sort_keys=True) + "\n", "utf-8")
        return
    print("paragraphs               questions          EM          F1")
    for paragraphs, distracted in SETTINGS:
        gold = examples(data, distracted=distracted)
        means = "  ".join(f"{mean:4.1f} ± {error:.1f}" for mean, error in measure(gold))
        print(f"{paragraphs:24} {len(gold):9}  {means}", flush=True)


def measure(gold: list[Example]) -> list[tuple[float, float]]:
    """Return (mean, its standard error over questions) of exact match and F1, in percent."""
    foldings = [cross_validated(gold, seed) for seed in range(1, FOLDINGS + 1)]
    found = []
    for metric in (exact_match, token_f1):
        values = [
            100 * fmean(metric(one.answer, example.answer) for one in answers)
            for example, *answers in zip(gold, *foldings, strict=True)
        ]
        found.append((fmean(values), stdev(values) / len(values) ** 0.5))
    return found


def cross_validated(gold: list[Example], seed: int) -> list[Prediction]:
    """Return the answers of readers that saw no question of the same fold.

    Questions about the same two articles are in one fold.
    """
    rng = random.Random(seed)
    articles = [about(example) for example in gold]
    folds = {pair: rng.randrange(FOLDS) for pair in sorted(set(articles))}
    found: dict[str, Prediction] = {}
    for fold in range(FOLDS):
        own = [folds[pair] == fold for pair in articles]
        reader = LightReader()
        learned = [one for one, held in zip(gold, own, strict=True) if not held]
        reader.fit(learned, random.Random(seed))
        held_out = [asked(one) for one, held in zip(gold, own, strict=True) if held]
        found |= {one.key: one for one in reader.predict(held_out)}
    return [found[example.key] for example in gold]


def about(example: Example) -> tuple[str, ...]:
    """Return the titles of the texts that the facts are in."""
    return tuple(sorted({example.texts[text].title for text, _ in example.facts}))


if __name__ == "__main__":
    main()
