"""Sentences are cut by spaCy's rules, most of them where CoreNLP has cut the published ones."""

import json
from pathlib import Path

import pytest

from collector.ingest.segmentation import split

pytestmark = [pytest.mark.data, pytest.mark.pure]


def test_published_paragraphs_are_mostly_cut_into_the_same_sentences(data: Path) -> None:
    asked = json.loads((data / "replay/hotpot_amor_test500.json").read_text("utf-8"))
    paragraphs = {tuple(sentences) for each in asked for _, sentences in each["context"]}
    n_alike = n_equal = n_published = 0
    for sentences in paragraphs:
        published, place = set(), 0
        for sentence in sentences:
            words = sentence.strip()
            begin = place + sentence.find(words)
            published |= {(begin, begin + len(words))} if words else set()
            place += len(sentence)
        ours = {(start, end) for start, end in split("".join(sentences), "en")}
        n_alike += ours == published
        n_equal += len(ours & published)
        n_published += len(published)

    # The README has these figures.
    assert round(100 * n_alike / len(paragraphs), 1) == 94.0
    assert round(100 * n_equal / n_published, 1) == 96.9
