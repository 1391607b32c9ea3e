"""The typed parameters every protocol shares; a protocol's own tables extend them."""

import tomllib
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FOLDS = ("train", "dev", "test")


class Table(BaseModel):
    """A table of protocol.toml: an unknown key refuses to load."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    # What a requester may still change once workers have begun: it does not decide the data.
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset()


class ProtocolTable(Table):
    """What the protocol is called, and the version of its parameters."""

    name: str
    version: int
    title: str


class PayTable(Table):
    """Currency and the rules that hold for every payment of a collection."""

    currency: str
    # The wire has two decimals, whatever the currency.
    minor_units: int = Field(ge=2, le=2)
    floor_cents_per_hour: int = Field(ge=0)
    fee_percent: int
    min_fee_cents: int
    # After five days the marketplace approves by itself.
    approve_after_hours: float = Field(ge=0, le=120)
    # Of what all places cost: held for work that is broken off, and so paid more than once.
    repeats_percent: int = Field(0, ge=0, le=1000)
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset(
        {"floor_cents_per_hour", "approve_after_hours", "repeats_percent"}
    )


class WorkersTable(Table):
    """What a protocol asks of its workers' past, on a crowd that has one."""

    # As many as the wire takes; none asks for no country.
    countries: list[Annotated[str, Field(pattern=r"^[A-Z]{2}$")]] = Field(max_length=30)
    min_approved: int = Field(ge=0)
    min_approval_percent: int = Field(ge=0, le=100)


class SplitsTable(Table):
    """Weights of the folds."""

    train: int
    dev: int
    test: int


class CuratedTable(Table):
    """Seeds that are pairs of pages, drawn from candidate sets that a person keeps."""

    # A category is cut to so many of its most-linked pages.
    most_linked: int = Field(ge=1)
    # What is proposed where no set was given: categories of some size, no near-whole of the corpus.
    default_sets: int = Field(ge=0, le=200)
    default_lists: int = Field(ge=0, le=200)
    min_default_pages: int = Field(ge=2)
    max_default_share: float = Field(gt=0, le=1)
    # Nobody looks at the defaults first: for demonstrations and simulations.
    keep_defaults: bool


class Redundancy(Table):
    """How many workers answer one item, by the fold of its seed."""

    train: int = Field(ge=1)
    dev: int = Field(ge=1)
    test: int = Field(ge=1)

    def of(self, fold: str) -> int:
        """Return how many one item of `fold` needs; an item without a fold is training."""
        return int(getattr(self, fold or "train"))


class PaceTable(Table):
    """What a worker earns for a block of examples that was made at this pace or faster."""

    examples_per_hour: float = Field(gt=0)
    cents: int = Field(ge=0)


class BonusesTable(Table):
    """Bonuses for accepted examples; an empty list turns one of the two off.

    The workers with most of every `top_every_examples` earn `top_cents`, the first place first;
    everybody earns for each `block_examples` of their own by the pace they were made at. An example
    counts `wait_hours` after it was handed in, unless it was dropped until then.
    """

    top_every_examples: int = Field(ge=1)
    top_cents: list[Annotated[int, Field(ge=1)]]
    block_examples: int = Field(ge=1)
    paces: list[PaceTable]
    # Collections of before have none.
    wait_hours: int = Field(0, ge=0, le=24 * 30)


class StageTable(Table):
    """One stage: what its HITs hold, who may take them, for how much and for how long."""

    kind: str
    # The lengths are those that the wire documents; the collection's name joins the keywords.
    title: str = Field(min_length=1, max_length=128)
    description: str = Field(min_length=1, max_length=2000)
    keywords: str = Field(max_length=900)
    reward_cents: int = Field(ge=0, le=10**6)
    expected_minutes: int = Field(ge=1)
    allotted_minutes: int = Field(ge=1)
    extension_minutes: int = Field(ge=0)
    lifetime_days: int = Field(ge=1, le=365)
    auto_approval_days: int = Field(ge=1, le=5)
    items_from: str
    items_per_hit: int = Field(ge=1)
    places_at_once: int = Field(ge=1, le=10**5)
    redundancy: Redundancy
    requires: str = ""
    qualifies: bool = False
    # How many decided questions of these folds or splits new workers do once more; none for 0.
    sample_questions: int = Field(0, ge=0)
    sample_splits: list[str] = ["test"]
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset(
        {
            "reward_cents",
            "expected_minutes",
            "lifetime_days",
            "places_at_once",
            "title",
            "description",
            "keywords",
        }
    )


class ChoiceTable(Table):
    """One label: `value` is stored and shown, `hint` says when it fits."""

    # As long as the column that keeps the label of a vote.
    value: str = Field(min_length=1, max_length=20)
    hint: str = ""


class FieldTable(Table):
    """One field of a form: one of `choices`, or free words where there are none."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    label: str = Field(min_length=1)
    choices: list[ChoiceTable] = []
    required: bool = True
    max_characters: int = Field(200, ge=1)

    @model_validator(mode="after")
    def _choices_differ(self) -> Self:
        values = [choice.value for choice in self.choices]
        if len(set(values)) != len(values):
            raise ValueError(f"two choices of {self.name!r} are the same")
        return self


class FormTable(StageTable):
    """A stage whose workers fill in one form per item; the first field is what is collected."""

    fields: list[FieldTable] = Field(min_length=1)

    @model_validator(mode="after")
    def _fields_differ(self) -> Self:
        names = [field.name for field in self.fields]
        if len(set(names)) != len(names):
            raise ValueError("two fields have the same name")
        if not self.fields[0].required:
            raise ValueError("the first field is what is collected: it must be required")
        return self


class TextTable(FormTable):
    """A text stage: the first field is the free text that is collected."""

    @model_validator(mode="after")
    def _first_is_words(self) -> Self:
        if self.fields[0].choices:
            raise ValueError("the first field is the text: it cannot have choices")
        return self


class LabelTable(FormTable):
    """A label stage: the first field is the label, and the vote that agreement counts."""

    @model_validator(mode="after")
    def _first_is_a_choice(self) -> Self:
        if len(self.fields[0].choices) < 2:
            raise ValueError("the first field is the label: it needs two choices or more")
        return self


class Parameters(Table):
    """The root of a protocol's parameters; stages are the fields whose tables are StageTables."""

    protocol: ProtocolTable
    pay: PayTable
    # The weights of the folds, or whatever else a protocol splits by.
    splits: Table

    def stages(self) -> dict[str, StageTable]:
        """Return the stages by name, in the order a collection goes through them."""
        tables = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: table for name, table in tables.items() if isinstance(table, StageTable)}

    def cautions(self) -> list[str]:
        """Return what may be asked for and yet disappoints, a sentence each for the requester."""
        return []


def with_overrides(values: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Return nested `values` with dotted `overrides` laid over them.

    Raises KeyError with a sentence for a key that `values` does not have.
    """
    result = {
        name: dict(table) if isinstance(table, dict) else table for name, table in values.items()
    }
    for dotted, value in overrides.items():
        *path, last = dotted.split(".")
        table: Any = result
        for part in path:
            if not isinstance(table.get(part), dict):
                raise KeyError(f"There is no table {part!r} in {dotted!r}.")
            table[part] = dict(table[part])
            table = table[part]
        if last not in table:
            known = ", ".join(sorted(table))
            raise KeyError(f"There is no parameter {dotted!r}. Known here: {known}.")
        table[last] = value
    return result


def assignment(text: str) -> tuple[str, Any]:
    """Return key and value of KEY=VALUE, the value read as TOML, else as plain text.

    Raises ValueError with a sentence for anything else.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError(f"{text!r}: write it as KEY=VALUE.")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value
