"""Killed and begun again, and estimated: every baseline, from the files of a release."""

import json
import random
from pathlib import Path

import pytest
import torch

from annotation.protocols.bookqa.baselines import BEST, CANDIDATES, RANKED, TRAINED
from readers.bookqa.tests.making import lines, release_files
from readers.tests.every_baseline import (
    check_estimate,
    check_killed,
    models_of,
    order_of,
    with_dropout,
)
from readers.tests.tiny_encoders import save_encoder, tiny_encoder
from readers.tests.tiny_writers import tiny_writer

torch.set_num_threads(1)
pytestmark = [pytest.mark.data, pytest.mark.pure]
WRITERS = ("t5", "bart", "gpt2")
TINY = {"passages": 2, "read_tokens": 32, "answer_tokens": 4, "pool": 16, "window": 32, "stride": 8}
TINY |= {"cloze_negatives": 2, "folds": 3}
# Every kind of learner, and every stage that one of them has.
KILLED = (
    *("ranker-best", "ranker-hard-em", "bert-hard-em", "bart-pre-read-decoder"),
    *("fid-bart-oracle", "gpt2", "fid-t5", "question-types"),
)


@pytest.fixture(autouse=True)
def _without_meteor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.protocols.bookqa.scoring.find_meteor", lambda: None)


@pytest.fixture(scope="module")
def release(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files of a release, with what a ranker made of the candidates."""
    folder = release_files(tmp_path_factory.mktemp("release"), data)
    ranked = ({"id": one["id"], "passages": sorted(one["passages"])} for one in asked(folder))
    text = "".join(json.dumps(line) + "\n" for line in ranked)
    (folder / RANKED[BEST].predictions).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def models(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of tiny models by the names that the papers' recipes have for them."""
    folder = tmp_path_factory.mktemp("models")
    texts = [line["question"] for line in asked(release)]
    for name in models_of("bookqa"):
        (folder / name).mkdir(parents=True)
        kind = next((kind for kind in WRITERS if kind in name), "")
        if kind:
            tiny_writer(kind, texts, folder / name, width=8)
        else:
            save_encoder(tiny_encoder(texts, random.Random(0), width=8), folder / name)
    return with_dropout(folder)


def asked(folder: Path) -> list[dict[str, str]]:
    return lines(folder / CANDIDATES)


@pytest.mark.parametrize("name", KILLED)
def test_a_run_that_was_killed_gives_the_weights_of_one_that_was_not(
    name: str, release: Path, models: Path, tmp_path: Path
) -> None:
    check_killed(order_of("bookqa", name, release, tmp_path, encoder=str(models)), tmp_path, **TINY)


@pytest.mark.parametrize("name", TRAINED)
def test_an_estimate_of_the_papers_recipe_tells_time_and_memory(
    name: str, release: Path, models: Path, tmp_path: Path
) -> None:
    check_estimate(order_of("bookqa", name, release, tmp_path, encoder=str(models)), tmp_path)
