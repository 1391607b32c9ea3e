"""The recipe of IIRC's baselines says what the paper says, in its own words."""

import re
from pathlib import Path

import pytest

from annotation.protocols.iirc import baselines
from readers.trainer.recipe import read_recipe, unsourced

RECIPE = Path(baselines.__file__).parent / "recipes" / "baseline.toml"


def test_every_number_says_where_it_is_from() -> None:
    assert unsourced(RECIPE) == []


@pytest.mark.data
def test_what_is_quoted_stands_in_the_paper(papers: Path) -> None:
    text = " ".join((papers / "iirc.txt").read_text("utf-8").split())
    quoted = [
        words
        for line in RECIPE.read_text("utf-8").splitlines()
        if "IIRC" in (comment := line.partition("#")[2])
        for words in re.findall('"([^"]+)"', comment)
    ]
    assert len(quoted) >= 8
    assert [words for words in quoted if words not in text] == []


@pytest.mark.parametrize("recipe", ["paper", "small"])
def test_links_are_learned_from_the_articles_with_evidence(recipe: str) -> None:
    assert read_recipe(RECIPE, recipe).of("links").text("labels") == "evidence"
