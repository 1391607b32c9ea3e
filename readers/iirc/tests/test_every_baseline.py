"""Killed and begun again, and estimated: every baseline, from the files of a release."""

from pathlib import Path

import pytest
import torch

from annotation.protocols.iirc.baselines import TRAINED
from readers.iirc.tests.lighthouses import write_files
from readers.tests.every_baseline import (
    check_estimate,
    check_killed,
    learners_of,
    order_of,
    with_dropout,
)

torch.set_num_threads(1)
pytestmark = pytest.mark.pure


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    with_dropout(write_files(folder)["encoder"])
    return folder


@pytest.mark.parametrize("name", learners_of(TRAINED))
def test_a_run_that_was_killed_gives_the_weights_of_one_that_was_not(
    name: str, release: Path, tmp_path: Path
) -> None:
    order = order_of("iirc", name, release, tmp_path, encoder=str(release / "encoder"))
    check_killed(order, tmp_path)


@pytest.mark.parametrize("name", TRAINED)
def test_an_estimate_of_the_papers_recipe_tells_time_and_memory(
    name: str, release: Path, tmp_path: Path
) -> None:
    order = order_of("iirc", name, release, tmp_path, encoder=str(release / "encoder"))
    check_estimate(order, tmp_path)
