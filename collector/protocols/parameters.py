"""The typed parameters every protocol shares; a protocol's own tables extend them."""

import random
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FOLDS = ("train", "dev", "test")


class Table(BaseModel):
    """A table of protocol.toml: an unknown key refuses to load."""

    # The sentence below a parameter is its help, on the requester's pages too.
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    # What a requester may still change once workers have begun: it does not decide the data.
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset()
    # What of a stage may change until it is opened: it decides neither seeds nor folds.
    UNTIL_OPENED: ClassVar[frozenset[str]] = frozenset()


class ProtocolTable(Table):
    """What the protocol is called, and the version of its parameters."""

    name: str
    """The folder the protocol is in."""
    version: int
    """Raised when a parameter is renamed."""
    title: str
    """What the protocol is called."""
    # Collections of before have none, nor has a folder that does not mind.
    order: int = Field(1000, ge=0)
    """Its place among the protocols that a new collection offers, the least first."""


class PayTable(Table):
    """Currency and the rules that hold for every payment of a collection."""

    currency: str
    """The currency of every amount, such as USD."""
    # The wire has two decimals, whatever the currency.
    minor_units: int = Field(ge=2, le=2)
    """Decimals of an amount; the marketplace has two."""
    floor_cents_per_hour: int = Field(ge=0)
    """You are warned when a stage pays less than this an hour."""
    fee_percent: int
    """What the marketplace charges on top of every reward."""
    min_fee_cents: int
    """The least that the marketplace charges for one reward."""
    # After five days the marketplace approves by itself.
    approve_after_hours: float = Field(ge=0, le=120)
    """Time for you to read work and to reject it; then it is paid."""
    # Of what all places cost: held for work that is broken off, and so paid more than once.
    repeats_percent: int = Field(0, ge=0, le=1000)
    """Work that is broken off is paid in part, and done again by others."""
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset(
        {"floor_cents_per_hour", "approve_after_hours", "repeats_percent"}
    )


class WorkersTable(Table):
    """What a protocol asks of its workers' past, on a crowd that has one."""

    # As many as the wire takes; none asks for no country.
    countries: list[Annotated[str, Field(pattern=r"^[A-Z]{2}$")]] = Field(max_length=30)
    """Only workers from these countries see the HITs, where the crowd knows."""
    min_approved: int = Field(ge=0)
    """How many HITs a worker must have had approved before."""
    min_approval_percent: int = Field(ge=0, le=100)
    """How much of a worker's earlier work must have been approved."""


class PeopleTable(Table):
    """Whom the work is for."""

    # The wire names so many in one qualification's keywords.
    groups: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field([], max_length=20)
    """Groups of the marketplace whose members alone see the HITs; none for everybody."""
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset({"groups"})

    @model_validator(mode="after")
    def _each_group_once(self) -> Self:
        if len(set(self.groups)) < len(self.groups):
            raise ValueError("name each group once")
        return self


class SplitsTable(Table):
    """Weights of the folds."""

    train: int
    """Weight of the training fold."""
    dev: int
    """Weight of the development fold."""
    test: int
    """Weight of the test fold."""


class CuratedTable(Table):
    """Seeds that are pairs of pages, drawn from candidate sets that a person keeps."""

    # A category is cut to so many of its most-linked pages.
    most_linked: int = Field(ge=1)
    """A category is cut to so many of its most-linked pages."""
    # What is proposed where no set was given: categories of some size, no near-whole of the corpus.
    default_sets: int = Field(ge=0, le=200)
    """How many categories are proposed where no set was given."""
    default_lists: int = Field(ge=0, le=200)
    """How many lists to compare within are proposed where none was given."""
    min_default_pages: int = Field(ge=2)
    """A proposed category has at least so many pages."""
    max_default_share: float = Field(gt=0, le=1)
    """A proposed category has at most this share of the corpus."""
    # Nobody looks at the defaults first: for demonstrations and simulations.
    keep_defaults: bool
    """Keep proposed sets without anybody looking at them: for demonstrations."""


class Redundancy(Table):
    """How many workers answer one item, by the fold of its seed, and more of them a part of all.

    Of a stage's HITs, `percent` are done by `people`, in whatever fold: as many of the first ones
    as of all, one drawn of each 100 / `percent` that follow on one another.
    """

    train: int = Field(ge=1)
    """How many people do one item of the training fold."""
    dev: int = Field(ge=1)
    """How many people do one item of the development fold."""
    test: int = Field(ge=1)
    """How many people do one item of the test fold."""
    # Collections of before have no such part.
    percent: int = Field(0, ge=0, le=100)
    """This share of the HITs, drawn by the seed, is done by more people; 0 for none."""
    people: int = Field(0, ge=0)
    """How many people do each HIT of that share; 0 where there is none."""

    @model_validator(mode="after")
    def _share_has_people(self) -> Self:
        if bool(self.percent) != bool(self.people):
            raise ValueError("give both percent and people, or neither")
        if self.percent and self.people <= min(self.of(fold) for fold in FOLDS):
            raise ValueError("people must be more than do the other HITs of some fold")
        return self

    def of(self, fold: str) -> int:
        """Return how many one item of `fold` needs; an item without a fold is training."""
        return int(getattr(self, fold or "train"))

    def by_fold(self) -> dict[str, int]:
        """Return how many one item needs, by its fold."""
        return {fold: self.of(fold) for fold in FOLDS}

    def most_of(self, fold: str) -> int:
        """Return how many one item of `fold` can come to need."""
        return max(self.of(fold), self.people) if self.of(fold) else 0

    def mean_of(self, fold: str) -> float:
        """Return how many one item of `fold` needs on average, the drawn share counted in."""
        return self.of(fold) + (self.most_of(fold) - self.of(fold)) * self.percent / 100

    def of_hit(self, usual: int, number: int, seed: str) -> int:
        """Return how many do the stage's HIT `number`, from 0, where others have the `usual`."""
        return max(usual, self.people) if self._is_drawn(number, seed) else usual

    def _is_drawn(self, number: int, seed: str) -> bool:
        if not self.percent:
            return False
        stratum = number * self.percent // 100
        first = -(-stratum * 100 // self.percent)
        behind = -(-(stratum + 1) * 100 // self.percent)
        return random.Random(f"{seed}:{stratum}").randrange(first, behind) == number

    def places(self, hits: Mapping[int, int]) -> int:
        """Return the places of so many HITs at most, by how many people they usually have.

        The share is taken of those where it adds most.
        """
        drawn = -(-sum(n for usual, n in hits.items() if usual) * self.percent // 100)
        places = 0
        for usual, number in sorted(hits.items()):
            more = min(drawn, number) if usual else 0
            drawn -= more
            places += usual * number + max(0, self.people - usual) * more
        return places


class PaceTable(Table):
    """What a worker earns for a block of examples that was made at this pace or faster."""

    examples_per_hour: float = Field(gt=0)
    """The pace that earns this bonus."""
    cents: int = Field(ge=0)
    """What a block at this pace earns."""


class BonusesTable(Table):
    """Bonuses for accepted examples; an empty list turns one of the two off.

    The workers with most of every `top_every_examples` earn `top_cents`, the first place first;
    everybody earns for each `block_examples` of their own by the pace they were made at. An example
    counts `wait_hours` after it was handed in, unless it was dropped until then.
    """

    top_every_examples: int = Field(ge=1)
    """After so many examples the workers with most of them earn a bonus."""
    top_cents: list[Annotated[int, Field(ge=1)]]
    """What the first, second … place earns."""
    block_examples: int = Field(ge=1)
    """Everybody earns for each block of so many examples."""
    paces: list[PaceTable]
    """What a block earns, by the pace it was made at."""
    # Collections of before have none.
    wait_hours: int = Field(0, ge=0, le=24 * 30)
    """An example counts so long after it was handed in, unless it was dropped."""


class StageTable(Table):
    """One stage: what its HITs hold, who may take them, for how much and for how long."""

    kind: str
    """What workers do in this stage."""
    # The lengths are those that the wire documents; the collection's name joins the keywords.
    title: str = Field(min_length=1, max_length=128)
    """What workers see in the list of HITs."""
    description: str = Field(min_length=1, max_length=2000)
    """What workers read below the title before they accept."""
    keywords: str = Field(max_length=900)
    """Words that workers find the HIT by."""
    reward_cents: int = Field(ge=0, le=10**6)
    """What a worker is paid for one HIT."""
    expected_minutes: int = Field(ge=1)
    """Told to workers; the hourly rate follows from it."""
    allotted_minutes: int = Field(ge=1)
    """How long a worker may keep a HIT."""
    extension_minutes: int = Field(ge=0)
    """What asking for more time adds, once."""
    lifetime_days: int = Field(ge=1, le=365)
    """How long a HIT stays up before it is posted anew."""
    auto_approval_days: int = Field(ge=1, le=5)
    """After so long the marketplace approves work by itself."""
    items_from: str
    """Where the items come from: seeds, or another stage."""
    items_per_hit: int = Field(ge=1)
    """How many items one HIT holds."""
    places_at_once: int = Field(ge=1, le=10**5)
    """Topped up as they are taken."""
    redundancy: Redundancy
    """How many people do one item."""
    requires: str = ""
    """The qualification stage that a worker must have passed."""
    qualifies: bool = False
    """Whether passing this stage opens another one."""
    # Of these folds or splits; who has worked on a question before never gets it.
    sample_questions: int = Field(0, ge=0)
    """How many decided questions are drawn to be done once more, or labelled; none for 0."""
    sample_splits: list[str] = ["test"]
    """The splits that those questions are drawn from."""

    @model_validator(mode="after")
    def _examinations_are_alike(self) -> Self:
        if self.qualifies and self.redundancy.percent:
            raise ValueError("redundancy.percent must be 0: everybody is examined alike")
        return self

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


class Parameters(Table):
    """The root of a protocol's parameters; stages are the fields whose tables are StageTables."""

    protocol: ProtocolTable
    pay: PayTable
    # The weights of the folds, or whatever else a protocol splits by.
    splits: Table
    # Collections of before have none: theirs are for everybody.
    people: PeopleTable = PeopleTable()

    def stages(self) -> dict[str, StageTable]:
        """Return the stages by name, in the order a collection goes through them."""
        tables = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: table for name, table in tables.items() if isinstance(table, StageTable)}

    def reader_looks_on(self) -> bool:
        """Return whether a reader answers what workers write, to tell them of it."""
        return False

    def cautions(self) -> list[str]:
        """Return what may be asked for and yet disappoints, a sentence each for the requester."""
        return []


def with_overrides(
    values: Mapping[str, object], overrides: Mapping[str, object]
) -> dict[str, object]:
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


def assignment(text: str) -> tuple[str, object]:
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
