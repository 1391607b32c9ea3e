"""Killed and begun again, and estimated: every baseline, from the files of a release."""

from pathlib import Path

import pytest

from annotation.protocols.hotpotqa.baselines import DISTRACTOR, FULL_WIKI, TRAIN, TRAINED
from readers.hotpotqa.tests.making import TINY, items, write
from readers.tests.every_baseline import (
    check_estimate,
    check_killed,
    learners_of,
    order_of,
)

pytestmark = pytest.mark.pure


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write(folder / TRAIN, items(18)[6:])
    for name in (DISTRACTOR, FULL_WIKI):
        write(folder / name, items(6))
    return folder


@pytest.mark.parametrize("name", learners_of(TRAINED, "paragraphs", "without"))
def test_a_run_that_was_killed_gives_the_weights_of_one_that_was_not(
    name: str, release: Path, tmp_path: Path
) -> None:
    tiny = {key: TINY[key] for key in TINY if key not in ("epochs", "batch")}
    order = order_of("hotpotqa", name, release, tmp_path)
    check_killed(order, tmp_path, **{**tiny, "dropout": 0.2})


@pytest.mark.parametrize("name", [name for name in TRAINED if TRAINED[name].train_files])
def test_an_estimate_of_the_papers_recipe_tells_time_and_memory(
    name: str, release: Path, tmp_path: Path
) -> None:
    check_estimate(order_of("hotpotqa", name, release, tmp_path), tmp_path)
