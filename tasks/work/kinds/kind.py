"""The contract of a kind of stage: what the rest of Collector asks of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from collector.models import Stage
from collector.protocols.loading import P, Part, ProtocolError, get_protocol
from collector.protocols.parameters import Parameters, StageTable, Table
from tasks.models import Lease, Submission, Unit, Worker
from tasks.work.widgets.problems import Problem

# What a page shows of one item, and what is cleaned of a submission, by the name of its list: JSON.
Item = dict[str, object]
Data = Mapping[str, Sequence[object]]
# From (item id, article title) to the article's text, None where it may not be read.
Documents = Callable[[str, str], str | None]

T = TypeVar("T", bound=Table)


class HandedInTogether(Exception):
    """The answers of this kind of stage are handed in together, not one after the other."""


class NotTheNextQuestion(Exception):
    """The answer is not to the next question; the page has to load the answers again."""


@dataclass(frozen=True)
class ExtraPay:
    """What a HIT of a kind promises beyond its reward, to each worker, in cents and minutes.

    `keeps_work`: what was written outlives a return. `is_one_at_a_time`: nobody is at two.
    """

    bonus_cents: int = 0
    waiting_cents: int = 0
    waiting_minutes: int = 0
    keeps_work: bool = True
    is_one_at_a_time: bool = False


@dataclass(frozen=True)
class Skips:
    """How many items of a HIT may be skipped, and how many people may skip one item."""

    per_hit: int = 0
    per_item: int = 0


class StageKind(ABC):
    """One kind of stage: what its workers may take, see and do, and what is kept of it."""

    # What `kind` says in a stage's table of protocol.toml; also its page, hits/NAME.html.
    name: ClassVar[str]
    # The types that a requester can correct an answer to; none where nothing is answered.
    correction_types: ClassVar[tuple[str, ...]] = ()
    # Whether two workers are brought together: units are tickets, and questions come in dialogs.
    pairs_workers: ClassVar[bool] = False
    # Whether workers may search the collection's corpus, and read and cite all its passages.
    searches: ClassVar[bool] = False
    # Whether the answers to what is asked here cite passages of the corpus by their names.
    cites_passages: ClassVar[bool] = False

    @abstractmethod
    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out the units that the worker may not take, whatever places they have."""

    def left_for(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out the units that the worker may not take even when done with all else."""
        return self.allowed(units, worker)

    def role_qualifications(self, table: StageTable) -> tuple[str, ...]:
        """Return for each role the stage whose qualification opens it, "" where none has to.

        One role is enough to take part. Most kinds have no roles.
        """
        return ()

    def extra_pay(self, table: StageTable) -> ExtraPay:
        """Return what HITs of the stage promise beyond their reward."""
        return ExtraPay()

    def holds_one(self, table: StageTable) -> bool:
        """Return whether nobody holds two assignments of the stage: of tests, and of dialogs."""
        return table.qualifies or self.extra_pay(table).is_one_at_a_time

    def usual_bonus_cents(self, table: StageTable) -> int:
        """Return what a worker usually earns in a HIT beside its reward, in cents."""
        return 0

    def questions_per_hit(self, table: StageTable) -> int:
        """Return how many questions a HIT asks for as a whole, 0 where each item is done once."""
        return 0

    def skips(self, table: StageTable) -> Skips:
        """Return how much may be skipped in place of being done; mostly nothing."""
        return Skips()

    @abstractmethod
    def seeds_shown(self, unit: Unit) -> list[int]:
        """Return the ids of the seeds that the unit shows."""

    @abstractmethod
    def page_items(self, unit: Unit) -> list[Item]:
        """Return what the page shows, item by item, each with its "id"; it never changes."""

    def readable_links(self, items: Sequence[Item]) -> Mapping[str, Collection[str]]:
        """Return by item id the titles of the linked articles that may be opened; mostly none."""
        return {}

    def trial_items(self, stage: Stage) -> list[Item]:
        """Return what a requester tries the stage's page with; none where it cannot be tried."""
        return []

    def trial_states(self, stage: Stage, now: datetime) -> Mapping[str, dict[str, object]]:
        """Return what the page is told in each role it can be tried in, by role; mostly none.

        Empty too where there is no seed to try it with.
        """
        return {}

    def page_state(self, lease: Lease) -> dict[str, object]:
        """Return what only this lease's page is told; most kinds tell nothing."""
        return {}

    @abstractmethod
    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""

    def with_given_answers(self, lease: Lease, data: object) -> object:
        """Return what was sent with the answers that were given for good before."""
        return data

    @abstractmethod
    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return what was sent, every offset and name in it proven, and what is wrong.

        data: whatever the page or anybody else sent. documents: the linked articles it may cite.
        """

    def unfinished(self, lease: Lease) -> list[Problem]:
        """Return what the lease's worker still has to do before they can hand in."""
        return []

    def parts_wanted(self, table: StageTable, n_items: int) -> int:
        """Return how many parts a HIT with `n_items` asks for, each an equal share of it."""
        return n_items

    @abstractmethod
    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many of the parts that a HIT asks for a draft holds."""

    def share_done(self, data: Mapping[str, object], table: StageTable, n_items: int) -> Fraction:
        """Return exactly how much of a HIT with `n_items` a draft holds, from 0 to 1."""
        wanted = self.parts_wanted(table, n_items)
        return Fraction(min(self.parts_done(data), wanted), max(1, wanted))

    @abstractmethod
    def store(self, submission: Submission, data: Data) -> None:
        """Write cleaned data as rows; expects the transaction of the submission."""

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return what of a vote is one of a few labels, by what it is called; none of most kinds.

        Labels of a protocol's own scheme are not meant, nor what is marked, counted or written.
        """
        return {}

    def give_answer(
        self, lease: Lease, item: str, answer: object, items: Sequence[Item], now: datetime
    ) -> list[Problem]:
        """Keep the answer to the next question for good; return what is wrong: then it is not kept.

        Raises HandedInTogether where the kind knows no such answers.
        """
        raise HandedInTogether(f"Answers of the kind {self.name!r} are handed in together.")

    def hints_on_sent(self, lease: Lease, message: UUID) -> list[Problem]:
        """Return what is kindly said of a message that was sent for good.

        `index`: its place among all that the lease's worker has sent. None of it is ever withheld.
        """
        return []


def table_as(table: StageTable, wanted: type[T]) -> T:
    """Return a stage's table as the kind of stage needs it; raises ProtocolError for another."""
    if isinstance(table, wanted):
        return table
    raise ProtocolError(
        f"A stage of the kind {table.kind!r} needs a table of the type {wanted.__name__} "
        "(collector/protocols/stage_tables.py): extend it in the protocol's parameters.py."
    )


def checks_as(parameters: Parameters, wanted: type[T]) -> T:
    """Return the protocol's [checks] as the kind of stage needs them; raises ProtocolError."""
    checks = getattr(parameters, "checks", None)
    if isinstance(checks, wanted):
        return checks
    raise ProtocolError(
        f"The protocol {parameters.protocol.name!r} needs a table [checks] of the type "
        f"{wanted.__name__} (collector/protocols/stage_tables.py): extend it in its parameters.py."
    )


def entries_of(data: object, name: str) -> list[dict[str, object]]:
    """Return the objects that a draft, or anything else, holds in a list under a name."""
    held = data.get(name) if isinstance(data, Mapping) else None
    entries = held if isinstance(held, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


class ChecksPart(Protocol[P]):
    """checks.py: pure, so that a page is told while somebody still writes."""

    def problems(
        self, kind: str, data: Data, items: Sequence[Item], table: StageTable, parameters: P
    ) -> list[Problem]:
        """Return what is wrong with cleaned data, and hints; in sentences, in the page's order.

        kind: of the stage. items: what its page shows. table: the stage's own.
        """


CHECKS = Part[ChecksPart[Parameters]]("checks", ChecksPart)


def protocol_problems(
    protocol: str, data: Data, items: Sequence[Item], table: StageTable, parameters: Parameters
) -> list[Problem]:
    """Return what the protocol finds wrong with cleaned data of a stage; raises ProtocolError."""
    checks = _checks(protocol, tuple(settings.PROTOCOL_FOLDERS))
    return checks.problems(table.kind, data, items, table, parameters)


@lru_cache(maxsize=64)
def _checks(protocol: str, folders: tuple[Path, ...]) -> ChecksPart[Parameters]:
    """Return a protocol's checks.py, which is looked for among the folders once."""
    return get_protocol(protocol).part(CHECKS)
