"""Baselines that are trained, as their protocols name them; torch is not needed to look."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from annotation.baselines.training import recipe_path
from annotation.protocols.contracts import TRAINED
from annotation.protocols.tests.folders import PROTOCOLS
from annotation.readers.neural.recipe import PAPER, SMALL, read_recipe, unsourced
from annotation.readers.trained import Trained
from collector.protocols.loading import Protocol

WITH_BASELINES = [each for each in PROTOCOLS if each.has(TRAINED, "TRAINED")]
RECIPES = [
    path
    for protocol in PROTOCOLS
    for path in sorted((protocol.folder / "baselines" / "recipes").glob("*.toml"))
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


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_every_number_of_a_recipe_says_where_it_is_from(path: Path) -> None:
    assert unsourced(path) == []
    for name in (PAPER, SMALL):
        recipe = read_recipe(path, name)
        stages = [key for key, value in recipe.values.items() if isinstance(value, dict)]
        for stage in stages or [""]:
            assert recipe.training(stage).epochs >= 1


def test_every_recipe_is_of_a_baseline() -> None:
    used = {recipe_path(*each) for each in every_baseline()}
    assert set(RECIPES) <= used
