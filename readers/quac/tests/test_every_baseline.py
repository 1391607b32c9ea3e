"""Killed and begun again, and estimated: every baseline, from the files of a release."""

import random
from pathlib import Path

import pytest
import torch

from annotation.protocols.quac.baselines import TRAINED
from annotation.protocols.quac.file_format import FILES
from annotation.protocols.quac.tests.talks import SENTENCES, question, write
from readers.tests.every_baseline import (
    check_estimate,
    check_killed,
    learners_of,
    order_of,
)
from readers.tests.tiny_encoders import save_encoder, tiny_encoder

torch.set_num_threads(1)
pytestmark = pytest.mark.pure
TINY = {"hidden": 4, "filters": 5, "character_width": 3, "word_width": 6, "least_count": 1}
TALK = [
    question("What first?", SENTENCES[0], followup="y"),
    question("Is it so?", SENTENCES[1], yesno="y"),
    question("Who?", None, followup="n"),
]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    talks = [TALK[at % 2 :] for at in range(9)]
    write(folder / FILES["train"], *talks)
    dev = write(folder / FILES["dev"], TALK, TALK[:2]).read_text("utf-8")
    (folder / FILES["dev"]).write_text(dev.replace('"C_0', '"C_1'), "utf-8")
    return folder


@pytest.mark.parametrize("name", learners_of(TRAINED))
def test_a_run_that_was_killed_gives_the_weights_of_one_that_was_not(
    name: str, release: Path, tmp_path: Path
) -> None:
    check_killed(order_of("quac", name, release, tmp_path), tmp_path, **TINY)


def test_so_does_one_beside_an_encoder(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "encoder"
    save_encoder(tiny_encoder([" ".join(SENTENCES)], random.Random(0), width=8), folder)
    order = order_of("quac", "bidaf++-2", release, tmp_path, encoder=str(folder))
    check_killed(order, tmp_path, **TINY, window=24, stride=8)


@pytest.mark.parametrize("name", TRAINED)
def test_an_estimate_of_the_papers_recipe_tells_time_and_memory(
    name: str, release: Path, tmp_path: Path
) -> None:
    check_estimate(order_of("quac", name, release, tmp_path), tmp_path)
