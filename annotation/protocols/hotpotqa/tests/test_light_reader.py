"""The built-in reader learns from real questions to answer others."""

import random
from pathlib import Path
from statistics import fmean

import pytest

from annotation.metrics.token_overlap import exact_match
from annotation.protocols.hotpotqa.tests.real import examples
from readers.light.light_reader import LightReader
from readers.reader import asked


@pytest.mark.data
def test_it_learns_from_half_of_the_real_questions_to_answer_the_other_half(data: Path) -> None:
    gold = examples(data, distracted=False)
    learned, others = gold[::2], gold[1::2]
    reader = LightReader()
    reader.fit(learned, random.Random(1))
    losses: dict[bool, list[float]] = {True: [], False: []}
    for one, example in zip(reader.predict(map(asked, others)), others, strict=True):
        losses[exact_match(one.answer, example.answer) == 1].append(one.loss)
    # More than a quarter; trees over the same words answered less than a fifth.
    assert len(losses[True]) > 0.25 * len(others)
    # It is surer where it is right: by that medium and hard questions are told apart.
    assert fmean(losses[True]) < fmean(losses[False]) - 0.3
