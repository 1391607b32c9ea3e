"""Baselines that are trained, as their protocols name them; torch is not needed to look."""

import csv
import importlib.util
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from annotation.baselines.training import recipe_path
from annotation.metrics.result import ScoreError
from annotation.protocols.contracts import SCORING, TRAINED
from annotation.protocols.tests.folders import PROTOCOLS
from collector.protocols.loading import Protocol
from common.spreadsheet import csv_lines
from readers.trained import Trained
from readers.trainer.recipe import PAPER, SMALL, read_recipe, unsourced

WITH_BASELINES = [each for each in PROTOCOLS if each.has(TRAINED, "TRAINED")]
RECIPES = [
    path for protocol in PROTOCOLS for path in sorted((protocol.folder / "recipes").glob("*.toml"))
]


def every_baseline() -> Iterator[tuple[Protocol, str, Trained]]:
    for protocol in WITH_BASELINES:
        for name, about in protocol.part(TRAINED).TRAINED.items():
            yield protocol, name, about


EACH = pytest.mark.parametrize(
    ("protocol", "name", "about"),
    [pytest.param(*each, id=f"{each[0].name}-{each[1]}") for each in every_baseline()],
)


@EACH
def test_a_baseline_has_a_module_and_a_recipe(
    protocol: Protocol, name: str, about: Trained
) -> None:
    assert re.fullmatch(r"[a-z0-9+-]+", name)
    package = cast(ModuleType, protocol.part(TRAINED)).__name__
    assert importlib.util.find_spec(about.module, package) is not None
    assert recipe_path(protocol, name, about) in RECIPES
    assert about.about.strip() == about.about != ""
    if about.learns_as:
        other = protocol.part(TRAINED).TRAINED[about.learns_as]
        assert (other.module, other.recipe) == (about.module, about.recipe or about.learns_as)


@EACH
def test_what_is_trained_from_a_release_names_its_files(
    protocol: Protocol, name: str, about: Trained
) -> None:
    assert bool(about.train_files) == bool(about.dev_file)
    assert not about.paper or about.source
    assert not any("test" in re.split(r"[\W_]+", file.lower()) for file in about.train_files)


ANSWERS = {"answer", "answers", "orig_answer", "supporting_facts"}


def without_answers(value: object) -> object:
    """Return what an official file holds, without what is answered."""
    if isinstance(value, str):
        rows = list(csv.DictReader(StringIO(value)))
        kept = [{key: "" if "answer" in key else row[key] for key in row} for row in rows]
        return "".join(csv_lines([list(rows[0]), *(row.values() for row in kept)], verbatim=True))
    return _without(value)


def _without(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without(each) for key, each in value.items() if key not in ANSWERS}
    return [_without(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("protocol", WITH_BASELINES, ids=lambda each: each.name)
def test_a_dev_file_without_answers_is_known_before_anything_is_trained(
    protocol: Protocol, tmp_path: Path
) -> None:
    sample = json.loads((protocol.folder / "sample.json").read_text("utf-8"))
    names = {about.dev_file for _, _, about in every_baseline() if about.dev_file in sample}
    assert names
    for name in names:
        for value, is_gold in ((sample[name], True), (without_answers(sample[name]), False)):
            path = tmp_path / name
            path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
            if is_gold:
                protocol.part(SCORING).check_gold(path)
                continue
            with pytest.raises(ScoreError) as refused:
                protocol.part(SCORING).check_gold(path)
            assert "\n" not in str(refused.value)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_every_number_of_a_recipe_says_where_it_is_from(path: Path) -> None:
    assert unsourced(path) == []
    for name in (PAPER, SMALL):
        recipe = read_recipe(path, name)
        stages = [key for key, value in recipe.values.items() if isinstance(value, dict)]
        for stage in stages or [""]:
            assert recipe.training(stage).epochs >= 1


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_no_stage_of_a_recipe_waits_an_epoch_for_its_checkpoint(path: Path) -> None:
    for name in (PAPER, SMALL):
        recipe = read_recipe(path, name)
        stages = [key for key, value in recipe.values.items() if isinstance(value, dict)]
        for stage in ("", *stages):
            training = recipe.training(stage)
            assert training.checkpoint_steps or training.dev_steps, (name, stage)


def test_every_recipe_is_of_a_baseline() -> None:
    used = {recipe_path(*each) for each in every_baseline()}
    assert set(RECIPES) <= used
