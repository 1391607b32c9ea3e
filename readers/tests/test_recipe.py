"""Recipes: where a number is from is said beside it, and what nobody reads is refused."""

import pytest

from readers.trained import ReaderError
from readers.trainer.recipe import read_recipe, switches, unsourced

TEXT = """
[paper]
epochs = 30            # source: Paper 5.1, "for 30 epochs"
batch = 12             # ours: the paper does not say
optimizer = "sgd"      # source: Paper 5.1
learning_rate = 0.01   # source: Paper 5.1
hidden = 100           # source: Paper 5.1
lower = true           # ours

[paper.selector]
learning_rate = 1e-5   # source: Paper 4.1
stride = 0.25          # source: Paper 4.1

[small]
epochs = 2             # ours: minutes on a processor

[small.selector]
stride = 0.5           # ours: half as many windows
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "reader.toml"
    path.write_text(TEXT)
    return path


def test_the_small_recipe_replaces_some_of_the_papers(path):
    paper, small = read_recipe(path), read_recipe(path, "small")
    assert (paper.training().epochs, small.training().epochs) == (30, 2)
    assert small.integer("hidden") == 100
    assert small.of("selector").number("stride") == 0.5
    assert small.training("selector").learning_rate == 1e-5
    assert small.training("reader").learning_rate == 0.01


def test_each_value_says_where_it_is_from(path):
    assert unsourced(path) == []
    assert read_recipe(path).sources["epochs"] == 'source: Paper 5.1, "for 30 epochs"'
    small = read_recipe(path, "small")
    assert small.sources["epochs"] == "ours: minutes on a processor"
    assert small.of("selector").sources["stride"] == "ours: half as many windows"
    path.write_text(TEXT + "dropout = 0.2\n")
    assert unsourced(path) == ["small.selector.dropout"]


def test_a_file_of_ones_own_is_laid_over_the_papers(path, tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text("epochs = 3\nalike = 10\n[selector]\nstride = 1\n")
    recipe = read_recipe(path, str(own))
    assert (recipe.name, recipe.training().epochs, recipe.training().alike) == ("mine", 3, 10)
    assert recipe.of("selector").number("stride") == 1.0
    assert recipe.sources["epochs"] == "ours: mine.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("learning_rat = 1\n", r"mine\.toml: no recipe has learning_rat"),
        ("epochs = 0\n", "The recipe mine, epochs: "),
        ('optimizer = "lion"\n', "The recipe mine, optimizer: "),
        ("epochs = \n", r"mine\.toml: it cannot be read as TOML"),
    ],
)
def test_what_is_wrong_in_a_file_of_ones_own_is_named(path, tmp_path, text, said):
    own = tmp_path / "mine.toml"
    own.write_text(text)
    with pytest.raises(ReaderError, match=said):
        read_recipe(path, str(own)).training()


@pytest.mark.parametrize(("name", "said"), [("tiny", "say paper, small"), ("a.toml", "no such")])
def test_an_unknown_recipe_is_refused(path, name, said):
    with pytest.raises(ReaderError, match=said):
        read_recipe(path, name)


@pytest.mark.parametrize(
    ("kind", "key", "said"),
    [
        ("integer", "dropout", "lacks dropout"),
        ("integer", "learning_rate", "learning_rate = 0.01: give a whole number"),
        ("number", "optimizer", 'optimizer = "sgd": give a number'),
        ("number", "lower", "lower = true: give a number"),
        ("text", "hidden", "hidden = 100: give a text"),
        ("flag", "hidden", "hidden = 100: give true or false"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(path, kind, key, said):
    recipe = read_recipe(path)
    with pytest.raises(ReaderError, match=said):
        getattr(recipe, kind)(key)
    assert (recipe.flag("lower"), recipe.text("optimizer")) == (True, "sgd")


def test_switches_are_as_the_recipe_has_them_or_all_on(path):
    recipe = read_recipe(path)
    assert switches(recipe, ["lower"]) == {"lower": True}
    assert switches(recipe, ["lower", "hidden"], all_on=True) == {"lower": True, "hidden": True}
    with pytest.raises(ReaderError, match="hidden = 100: give true or false"):
        switches(recipe, ["lower", "hidden"])
