"""Recipes: every number a baseline is trained with, and where it was read.

A protocol's `recipes/NAME.toml` has a table [paper] and a table [small] that replaces
some of it, so that a processor without a graphics card is done in reasonable time. A table inside
one of them ([paper.link]) is of the stage of that name, laid over the rest.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from readers.trained import ReaderError

PAPER, SMALL = "paper", "small"
ChoiceT = TypeVar("ChoiceT", bound=str)
# A value's line: its key, and after it the sentence or the reason.
_LINE = re.compile(r"^\s*([\w-]+)\s*=.*?#\s*(source: .+|ours: .+|ours)\s*$")
_TABLE = re.compile(r"^\s*\[([\w.-]+)\]")


class Training(BaseModel):
    """What the trainer reads of a recipe; the other keys are the baseline's own.

    batch: items at once; accumulate: batches in one step. Rates: `warmup_steps` or
    `warmup_share` of all steps rise to `learning_rate`; then it stays (constant), falls to 0 in
    a line (linear), or is multiplied by `factor` whenever `patience` looks at dev in a row were no
    improvement (plateau; the ReduceLROnPlateau of torch counts one less) until it is below
    `stop_below` of what it was at first. threshold: by which share of itself the best look before
    must be beaten for that to end a plateau; the weights of the best are kept, and stop_after
    counts, by any gain at all. stop_after: training ends after so many looks in a row
    without improvement, 0 never. dev_steps: how many steps between two looks at dev, 0 an epoch.
    checkpoint_steps: between two checkpoints, 0 at each look at dev alone. clip: the greatest
    norm of a gradient, 0 any. alike: out of how many batches items of like length are put
    together, 0 for none. max_steps: steps at most, 0 any. answer_batch: items that are answered at
    once, 0 as many as in `batch`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    epochs: int = Field(ge=1)
    batch: int = Field(ge=1)
    accumulate: int = Field(1, ge=1)
    optimizer: Literal["adam", "adamw", "sgd", "adadelta"]
    learning_rate: float = Field(gt=0)
    momentum: float = Field(0.0, ge=0, lt=1)
    weight_decay: float = Field(0.0, ge=0)
    warmup_steps: int = Field(0, ge=0)
    warmup_share: float = Field(0.0, ge=0, le=1)
    schedule: Literal["constant", "linear", "plateau"] = "constant"
    factor: float = Field(0.5, gt=0, lt=1)
    patience: int = Field(1, ge=1)
    threshold: float = Field(0.0, ge=0, lt=1)
    stop_below: float = Field(0.0, ge=0, lt=1)
    stop_after: int = Field(0, ge=0)
    clip: float = Field(0.0, ge=0)
    dev_steps: int = Field(0, ge=0)
    checkpoint_steps: int = Field(0, ge=0)
    alike: int = Field(0, ge=0)
    max_steps: int = Field(0, ge=0)
    answer_batch: int = Field(0, ge=0)
    mixed_precision: bool = True


@dataclass(frozen=True)
class Recipe:
    """The values of a recipe by key, tables by the name of their stage.

    name: paper, small, or the name of a file. sources: what each value's line says of where it
    is from, by dotted key.
    """

    name: str
    values: Mapping[str, object]
    sources: Mapping[str, str] = field(default_factory=dict)

    def of(self, stage: str) -> "Recipe":
        """Return the recipe of a stage: its own table's values laid over those of all."""
        own = self.values.get(stage)
        if not isinstance(own, dict):
            return self
        inside = {key.removeprefix(f"{stage}."): said for key, said in self.sources.items()}
        plain = {key: value for key, value in self.values.items() if key != stage}
        return replace(self, values={**plain, **own}, sources={**self.sources, **inside})

    def training(self, stage: str = "") -> Training:
        """Return what the trainer reads; raises ReaderError naming the key that is wrong."""
        try:
            return Training.model_validate(self.of(stage).values)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(each) for each in first["loc"])
            raise ReaderError(f"The recipe {self.name}, {key}: {first['msg']}.") from None

    def integer(self, key: str) -> int:
        """Return a whole number of the baseline's own; raises ReaderError naming the key."""
        value = self._value(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self._wrong(key, "a whole number")

    def number(self, key: str) -> float:
        """Return a number of the baseline's own; raises ReaderError naming the key."""
        value = self._value(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise self._wrong(key, "a number")

    def text(self, key: str) -> str:
        """Return a text of the baseline's own; raises ReaderError naming the key."""
        value = self._value(key)
        if isinstance(value, str):
            return value
        raise self._wrong(key, "a text")

    def choice(self, key: str, choices: Sequence[ChoiceT]) -> ChoiceT:
        """Return one of some values of the baseline's own; raises ReaderError naming the key."""
        value = self._value(key)
        for each in choices:
            if each == value:
                return each
        raise self._wrong(key, f"one of {', '.join(map(str, choices))}")

    def flag(self, key: str) -> bool:
        """Return true or false of the baseline's own; raises ReaderError naming the key."""
        value = self._value(key)
        if isinstance(value, bool):
            return value
        raise self._wrong(key, "true or false")

    def has(self, key: str) -> bool:
        """Return whether the recipe says anything of the key."""
        return key in self.values

    def _value(self, key: str) -> object:
        if key not in self.values:
            raise ReaderError(f"The recipe {self.name} lacks {key}: add it.")
        return self.values[key]

    def _wrong(self, key: str, kind: str) -> ReaderError:
        told = json.dumps(self.values[key], default=str)
        return ReaderError(f"The recipe {self.name}, {key} = {told}: give {kind}.")


def read_recipe(path: Path, name: str = PAPER) -> Recipe:
    """Return the recipe [paper] or [small] of a protocol's file, or one of a file of one's own.

    name: PAPER, SMALL, or the path of a TOML file whose values are laid over those of the paper.
    Raises ReaderError naming the file, and the key that the paper's recipe does not have.
    """
    text, tables = _read(path)
    paper = _table(path, tables, PAPER)
    sources = _sources(text)
    of_paper = _under(sources, PAPER)
    if name == PAPER:
        return Recipe(PAPER, paper, of_paper)
    if name == SMALL:
        small = _known(path, paper, _table(path, tables, SMALL))
        return Recipe(SMALL, _over(paper, small), {**of_paper, **_under(sources, SMALL)})
    given = Path(name)
    if given.suffix != ".toml":
        raise ReaderError(f"--recipe {name}: say {PAPER}, {SMALL}, or the path of a .toml file.")
    text, own = _read(given)
    own = _known(given, paper, own)
    said = dict.fromkeys(_dotted(own), f"ours: {given.name}")
    return Recipe(given.stem, _over(paper, own), {**of_paper, **said, **_sources(text)})


def switches(recipe: Recipe, names: Iterable[str], *, all_on: bool = False) -> dict[str, bool]:
    """Return which of a baseline's switches a recipe turns on; raises ReaderError for what is none.

    all_on: every one is on, whatever the recipe says.
    """
    return {name: all_on or recipe.flag(name) for name in names}


def unsourced(path: Path) -> list[str]:
    """Return the dotted keys of a protocol's recipe whose line does not say where it is from."""
    text, tables = _read(path)
    said = _sources(text)
    return [key for key in _dotted(tables) if key not in said]


def _read(path: Path) -> tuple[str, dict[str, object]]:
    try:
        text = path.read_text("utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        raise ReaderError(f"{path}: there is no such recipe; check the path.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ReaderError(f"{path}: it cannot be read as TOML ({error}).") from None


def _table(path: Path, tables: Mapping[str, object], name: str) -> dict[str, object]:
    table = tables.get(name)
    if not isinstance(table, dict):
        raise ReaderError(f"{path}: there is no table [{name}]; write it.")
    return table


def _known(path: Path, paper: Mapping[str, object], own: dict[str, object]) -> dict[str, object]:
    """Return what is laid over the paper's recipe; raises ReaderError for a key of nobody."""
    stages = [values for values in paper.values() if isinstance(values, dict)]
    known = {*Training.model_fields, *paper, *(key for values in stages for key in values)}
    for key in _dotted(own):
        if key.rpartition(".")[2] not in known:
            raise ReaderError(f"{path}: no recipe has {key}; check how it is written.")
    return own


def _over(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    """Return the values with others laid over them, table by table."""
    laid = dict(below)
    for key, value in above.items():
        under = laid.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        laid[key] = _over(under, value) if both else value  # type: ignore[arg-type]
    return laid


def _dotted(values: Mapping[str, object], before: str = "") -> list[str]:
    found = []
    for key, value in values.items():
        name = f"{before}{key}"
        found += _dotted(value, f"{name}.") if isinstance(value, dict) else [name]
    return found


def _sources(text: str) -> dict[str, str]:
    """Return what the comments of the lines say, by dotted key."""
    found, table = {}, ""
    for line in text.splitlines():
        if opened := _TABLE.match(line):
            table = f"{opened[1]}."
        elif said := _LINE.match(line):
            found[f"{table}{said[1]}"] = said[2]
    return found


def _under(sources: Mapping[str, str], table: str) -> dict[str, str]:
    begin = f"{table}."
    return {key.removeprefix(begin): said for key, said in sources.items() if key.startswith(begin)}
