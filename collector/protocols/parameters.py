"""The typed parameters that all protocols share, and a protocol's limits by language."""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

from collector.language_names import language_name
from collector.retrieval.terms import parts_no_words

FOLDS = ("train", "dev", "test")
# The context to validate stored values in: running collections must load, whatever is refused now.
STORED = "stored"
# The largest number: it fits database columns and dates, and no parameter needs more.
MOST = 10**9
# Characters that databases refuse: NUL and halves of surrogate pairs.
NO_TEXT = re.compile("[\0\ud800-\udfff]")
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class AtMost(NamedTuple):
    """The rule that `times` times `low` is not more than `high`.

    low, high: dotted names in a table; `high` may be a number. The rule does not apply if
    `unless_zero` names a parameter that is 0.
    """

    low: str
    high: str | int
    times: int = 1
    unless_zero: str = ""

    def problems(self, table: "Table") -> Iterator[str]:
        """Yield a sentence if the table breaks the rule."""
        if self.unless_zero and not attrgetter(self.unless_zero)(table):
            return
        low = self.times * attrgetter(self.low)(table)
        high = self.high if isinstance(self.high, int) else attrgetter(self.high)(table)
        if low > high:
            times = f"{self.times} times " if self.times > 1 else ""
            bound, mend = (
                (f"{self.high}, ", " or raise the other") if self.high != high else ("", "")
            )
            yield (
                f"{times}{self.low} ({low:,}) must not be more than {bound}{high:,}: lower it{mend}"
            )


class Table(BaseModel):
    """A table of protocol.toml; a table with an unknown key does not load."""

    # The sentence below a parameter is its help, on the requester's pages too.
    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )
    # Parameters that may change after workers have begun: they do not decide the data.
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset()
    # Parameters of a stage that may change until it opens: they decide neither seeds nor folds.
    UNTIL_OPENED: ClassVar[frozenset[str]] = frozenset()
    # Rules between parameters of this table; the tables that it extends add their own.
    AT_MOST: ClassVar[tuple[AtMost, ...]] = ()

    @model_validator(mode="after")
    def _fits_together(self, info: ValidationInfo) -> Self:
        wrong = [] if info.context == STORED else [*self._unstorable(), *self.misfits()]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    def _unstorable(self) -> Iterator[str]:
        for name, value in self:
            each = value if isinstance(value, list) else [value]
            if any(isinstance(one, int | float) and abs(one) > MOST for one in each):
                yield f"{name} must not be more than {MOST:,}"
            if any(isinstance(one, str) and NO_TEXT.search(one) for one in each):
                yield f"{name} holds a character that is no text: leave it out"

    def misfits(self) -> Iterator[str]:
        """Yield a sentence for each combination of parameters that cannot work."""
        for part in type(self).__mro__:
            for rule in vars(part).get("AT_MOST", ()):
                yield from rule.problems(self)


class ProtocolTable(Table):
    """The protocol's names, and the version of its parameters."""

    name: str
    """The folder the protocol is in."""
    version: int
    """Raised when a parameter is renamed."""
    title: str
    """What the protocol is called."""
    # Older collections have none, and a protocol may leave it out.
    order: int = Field(1000, ge=0)
    """Its place among the protocols that a new collection offers, the least first."""


class PayTable(Table):
    """Currency and the rules that hold for every payment of a collection."""

    currency: Words = Field(max_length=20)
    """The currency of every amount, such as USD."""
    # The marketplace's API has two decimals, whatever the currency.
    minor_units: int = Field(ge=2, le=2)
    """Decimals of an amount; the marketplace has two."""
    floor_cents_per_hour: int = Field(ge=0)
    """You are warned when a stage pays less than this an hour."""
    fee_percent: int = Field(ge=0, le=100)
    """What the marketplace charges on top of every reward."""
    min_fee_cents: int = Field(ge=0, le=10**6)
    """The least that the marketplace charges for one reward."""
    # After five days the marketplace approves by itself.
    approve_after_hours: float = Field(ge=0, le=120)
    """Time for you to read work and to reject it; then it is paid."""
    # A share of the cost of all places, reserved for work that is broken off and paid again.
    repeats_percent: int = Field(0, ge=0, le=1000)
    """Work that is broken off is paid in part, and done again by others."""
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset(
        {"floor_cents_per_hour", "approve_after_hours", "repeats_percent"}
    )


class WorkersTable(Table):
    """What a protocol requires of its workers' earlier work, if the marketplace records it."""

    # The API accepts at most this many; an empty list requires no country.
    countries: list[Annotated[str, Field(pattern=r"^[A-Z]{2}$")]] = Field(max_length=30)
    """Only workers from these countries see the HITs, where the crowd knows."""
    min_approved: int = Field(ge=0)
    """How many HITs a worker must have had approved before."""
    min_approval_percent: int = Field(ge=0, le=100)
    """How much of a worker's earlier work must have been approved."""


class PeopleTable(Table):
    """The workers who may see the HITs."""

    # The API has room for this many names in one qualification's keywords.
    groups: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field([], max_length=20)
    """Groups of the marketplace whose members alone see the HITs; none for everybody."""
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset({"groups"})

    @model_validator(mode="after")
    def _each_group_once(self) -> Self:
        if len(set(self.groups)) < len(self.groups):
            raise ValueError("name each group once")
        return self


class WeightsTable(Table):
    """Relative weights; they need not add up to any number."""

    def misfits(self) -> Iterator[str]:
        """Yield also a sentence if all weights are 0."""
        yield from super().misfits()
        if not any(weight for _, weight in self):
            yield "the weights must not all be 0: give one of them 1 or more"


class SplitsTable(WeightsTable):
    """Weights of the folds."""

    train: int = Field(ge=0)
    """Weight of the training fold."""
    dev: int = Field(ge=0)
    """Weight of the development fold."""
    test: int = Field(ge=0)
    """Weight of the test fold."""


class CuratedTable(Table):
    """Seeds that are pairs of pages, drawn from candidate sets that a person has kept."""

    # Only this number of a category's most-linked pages is used.
    most_linked: int = Field(ge=1)
    """A category keeps this number of its most-linked pages."""
    # Sets proposed if none was given: categories that are neither small nor most of the corpus.
    default_sets: int = Field(ge=0, le=200)
    """How many categories are proposed where no set was given."""
    default_lists: int = Field(ge=0, le=200)
    """How many lists to compare within are proposed where none was given."""
    min_default_pages: int = Field(ge=2)
    """The fewest pages of a proposed category."""
    max_default_share: float = Field(gt=0, le=1)
    """A proposed category has at most this share of the corpus."""
    # Nobody reviews the proposed sets: for demonstrations and simulations.
    keep_defaults: bool
    """Keep proposed sets without anybody looking at them: for demonstrations."""


class Redundancy(Table):
    """How many workers do one item, by the fold of its seed, and how many do a drawn share.

    `percent` of a stage's HITs, in any fold, are done by `people` workers. The share is spread
    evenly: one HIT is drawn of every 100 / `percent` consecutive HITs.
    """

    train: int = Field(ge=1, le=10_000)
    """How many people do one item of the training fold."""
    dev: int = Field(ge=1, le=10_000)
    """How many people do one item of the development fold."""
    test: int = Field(ge=1, le=10_000)
    """How many people do one item of the test fold."""
    # Older collections have no such share.
    percent: int = Field(0, ge=0, le=100)
    """This share of the HITs, drawn by the seed, is done by more people; 0 for none."""
    people: int = Field(0, ge=0, le=10_000)
    """How many people do each HIT of that share; 0 where there is none."""

    @model_validator(mode="after")
    def _share_has_people(self) -> Self:
        if bool(self.percent) != bool(self.people):
            raise ValueError("give both percent and people, or neither")
        if self.percent and self.people <= min(self.of(fold) for fold in FOLDS):
            raise ValueError("people must be more than do the other HITs of some fold")
        return self

    def of(self, fold: str) -> int:
        """Return the number of workers for an item of `fold`; without a fold it is in training."""
        return int(getattr(self, fold or "train"))

    def by_fold(self) -> dict[str, int]:
        """Return the number of workers for an item, by its fold."""
        return {fold: self.of(fold) for fold in FOLDS}

    def most_of(self, fold: str) -> int:
        """Return the largest number of workers that an item of `fold` can need."""
        return max(self.of(fold), self.people) if self.of(fold) else 0

    def mean_of(self, fold: str) -> float:
        """Return the mean number of workers for an item of `fold`, with the drawn share."""
        return self.of(fold) + (self.most_of(fold) - self.of(fold)) * self.percent / 100

    def of_hit(self, usual: int, number: int, seed: str) -> int:
        """Return the number of workers for the stage's HIT `number`, from 0.

        usual: the number of workers if the HIT is not in the drawn share.
        """
        return max(usual, self.people) if self._is_drawn(number, seed) else usual

    def _is_drawn(self, number: int, seed: str) -> bool:
        if not self.percent:
            return False
        stratum = number * self.percent // 100
        first = -(-stratum * 100 // self.percent)
        behind = -(-(stratum + 1) * 100 // self.percent)
        return random.Random(f"{seed}:{stratum}").randrange(first, behind) == number

    def places(self, hits: Mapping[int, int]) -> int:
        """Return the largest number of places that these HITs can have.

        hits: the number of HITs by their usual number of workers. The drawn share is taken from the
        HITs where it adds most.
        """
        drawn = -(-sum(n for usual, n in hits.items() if usual) * self.percent // 100)
        places = 0
        for usual, number in sorted(hits.items()):
            more = min(drawn, number) if usual else 0
            drawn -= more
            places += usual * number + max(0, self.people - usual) * more
        return places


class PaceTable(Table):
    """The bonus for a block of examples that was made at this pace or faster."""

    examples_per_hour: float = Field(gt=0)
    """The pace that earns this bonus."""
    cents: int = Field(ge=0, le=10**6)
    """What a block at this pace earns."""


class BonusesTable(Table):
    """Two bonuses for accepted examples; an empty list turns one of them off.

    After every `top_every_examples`, the workers with the most of them earn `top_cents`, the first
    place first. Each worker also earns for every `block_examples` of their own, by the pace of that
    block. An example counts `wait_hours` after it was handed in, unless it was dropped by then.
    """

    top_every_examples: int = Field(ge=1)
    """After this number of examples, the workers with most of them earn a bonus."""
    top_cents: list[Annotated[int, Field(ge=1, le=10**6)]]
    """What the first, second … place earns."""
    block_examples: int = Field(ge=1)
    """The examples in a block; everybody earns for each block."""
    paces: list[PaceTable]
    """What a block earns, by the pace it was made at."""
    # Older collections have none.
    wait_hours: int = Field(0, ge=0, le=24 * 30)
    """An example counts so long after it was handed in, unless it was dropped."""


# Numbers that titles and descriptions can name besides those of the table: the paragraphs that one
# HIT shows, and the questions that it asks for.
COUNTED = ("paragraphs", "questions")
NAMED = re.compile(r"\{([^{}]*)\}")
WITH_NOUN = re.compile(r"(\w+)(:[^|{}]*\|[^|{}]*)?")


class StageTable(Table):
    """One stage: the contents of its HITs, who may take them, their pay and their times."""

    kind: str
    """What workers do in this stage."""
    # The lengths are those of the API; the collection's name is added to the keywords.
    title: Words = Field(max_length=128)
    """What workers see in the list of HITs; {questions:question|questions} counts a HIT's."""
    description: Words = Field(max_length=2000)
    """What workers read below the title before they accept."""
    keywords: str = Field(max_length=900)
    """Words that workers find the HIT by."""
    reward_cents: int = Field(ge=0, le=10**6)
    """What a worker is paid for one HIT."""
    expected_minutes: int = Field(ge=1)
    """Told to workers; the hourly rate follows from it."""
    # The API accepts a year at most.
    allotted_minutes: int = Field(ge=1, le=525_600)
    """How long a worker may keep a HIT."""
    extension_minutes: int = Field(ge=0, le=525_600)
    """What asking for more time adds, once."""
    lifetime_days: int = Field(ge=1, le=365)
    """How long a HIT stays up before it is posted anew."""
    auto_approval_days: int = Field(ge=1, le=5)
    """After so long the marketplace approves work by itself."""
    items_from: str
    """Where the items come from: seeds, or another stage."""
    items_per_hit: int = Field(ge=1, le=1000)
    """How many items one HIT holds."""
    places_at_once: int = Field(ge=1, le=10**5)
    """Topped up as they are taken."""
    redundancy: Redundancy
    """How many people do one item."""
    requires: str = ""
    """The qualification stage that a worker must have passed."""
    qualifies: bool = False
    """Whether passing this stage opens another one."""
    # From these folds or splits. Workers never get a question that they have worked on.
    sample_questions: int = Field(0, ge=0)
    """How many decided questions are drawn to be done once more, or labelled; none for 0."""
    sample_splits: list[str] = Field(["test"], min_length=1)
    """The splits that those questions are drawn from."""
    AT_MOST: ClassVar[tuple[AtMost, ...]] = (AtMost("expected_minutes", "allotted_minutes"),)

    def numbers(self) -> dict[str, int]:
        """Return the whole numbers of the table by name."""
        # A bool is not a number here, although Python's bool is an int.
        return {name: value for name, value in self if type(value) is int}

    def misfits(self) -> Iterator[str]:
        """Yield also a sentence for each unknown number that the title or description names."""
        yield from super().misfits()
        known = [*self.numbers(), *COUNTED]
        for name in ("title", "description"):
            for found in NAMED.findall(getattr(self, name)):
                whole = WITH_NOUN.fullmatch(found)
                if whole is None or whole[1] not in known:
                    yield (
                        f"{name} has {{{found}}}, and that is no number of the stage: name one, as "
                        "in {items_per_hit}, with what it counts, as in "
                        "{questions:question|questions}, or leave the braces out"
                    )

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
    # Older collections have no such table: their HITs are for everybody.
    people: PeopleTable = PeopleTable()
    # What a protocol calls its splits, or the folds of its seeds.
    SPLITS: ClassVar[tuple[str, ...]] = FOLDS
    # For a corpus in another language: a list of the parts that know only English, and a sentence
    # on the parts that rely on blanks between words.
    ENGLISH_ALONE: ClassVar[str] = ""
    BY_BLANKS: ClassVar[str] = ""
    # Parameters of a stage that the protocol's own code relies on.
    FIXED: ClassVar[frozenset[str]] = frozenset({"kind", "items_from", "qualifies"})

    def stages(self) -> dict[str, StageTable]:
        """Return the stages by name, in the order a collection goes through them."""
        tables = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: table for name, table in tables.items() if isinstance(table, StageTable)}

    def misfits(self) -> Iterator[str]:
        """Yield also a sentence for each qualification or split that a stage names in vain."""
        yield from super().misfits()
        opening = [""]
        for name, table in self.stages().items():
            for key, value in table:
                if key.startswith("requires") and value not in opening:
                    known = ", ".join(opening[1:]) or "there is none"
                    yield (
                        f"{name}.{key} is {value!r}, no qualification that comes before: take one "
                        f"({known}), or leave it empty"
                    )
            if table.sample_questions and not {*self.SPLITS}.issuperset(table.sample_splits):
                yield f"{name}.sample_splits: take some of {', '.join(self.SPLITS)}"
            opening += [name] if table.qualifies else []

    def fixed(self) -> dict[str, object]:
        """Return, by dotted key, the values that define the protocol and that nobody sets."""
        told = {f"protocol.{key}": value for key, value in self.protocol}
        for name, table in self.stages().items():
            told |= {f"{name}.{key}": value for key, value in table if key in self.FIXED}
            # Only decided questions are drawn, so that a stage whose votes decide draws none.
            if not table.sample_questions:
                told[f"{name}.sample_questions"] = 0
        return told

    def reader_looks_on(self) -> bool:
        """Return whether a reader answers what workers write, and they are shown hints about it."""
        return False

    def cautions(self) -> list[str]:
        """Return warnings about allowed values that may disappoint, a sentence each."""
        return []


def with_overrides(
    values: Mapping[str, object], overrides: Mapping[str, object]
) -> dict[str, object]:
    """Return a copy of nested `values` with the values of dotted `overrides`.

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


ENGLISH = ("en", "simple")


def language_limits(parameters: Parameters, language: str) -> list[str]:
    """Return a sentence for each thing that is done differently from English, or not at all."""
    name, told = language_name(language), []
    if parameters.ENGLISH_ALONE and language.partition("-")[0] not in ENGLISH:
        told.append(
            f"The corpus is in {name}; these know English alone: {parameters.ENGLISH_ALONE}."
        )
    if parts_no_words(language):
        told.append(
            f"{name} has few blanks between words. So characters are marked and searched for, and "
            f"where words are limited two characters count as one. {parameters.BY_BLANKS}".strip()
        )
    return told
