"""Who sees a collection's HITs and who may take them, counted by the marketplace's own lists."""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from tasks.crowd import groups, marketplace
from tasks.crowd.requester_api import MarketplaceError, asked_once
from tasks.models import Eligibility, Grant, GrantState, Identity
from tasks.people import qualifications


@dataclass(frozen=True)
class StageAudience:
    """Who sees one stage at present, and who of them may take its HITs at once.

    `tests` are the titles of the qualifications of which one opens it: () where it is open, or a
    test itself (`is_test`). `n_see` is None where nobody can be counted; `let_in` and `passed` may
    take it, without a test and by it.
    """

    title: str
    is_test: bool
    tests: tuple[str, ...]
    n_see: int | None
    let_in: int
    passed: int

    @property
    def must_pass(self) -> int | None:
        """Return how many of those who see it have to pass a test first."""
        if not self.tests:
            return 0
        return None if self.n_see is None else self.n_see - self.let_in - self.passed


@dataclass(frozen=True)
class Audience:
    """Whom a collection is for. `problem` says in a sentence why nobody could be counted.

    groups: names of which one is enough, () for everybody. n_see: how many people that are; None
    for everybody, and where nobody could be counted. unknown: those of the groups that the
    marketplace does not have. outside: how many were let in who are in none of the groups. known:
    every group there is to choose from.
    """

    groups: tuple[str, ...]
    stages: tuple[StageAudience, ...]
    n_see: int | None = None
    unknown: tuple[str, ...] = ()
    outside: int = 0
    problem: str = ""
    known: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Return who can see what, for people to read."""
        told = [self._seen_by(), self.problem]
        if self.unknown:
            named = " and ".join(self.unknown)
            told.append(f"The marketplace has no group {named}: no HIT goes up until it has.")
        if self.outside:
            told.append(
                f"Let in without a test, but in none of these groups, so that they see nothing: "
                f"{_people(self.outside)}."
            )
        return [each for each in told if each]

    def _seen_by(self) -> str:
        named = " and ".join(self.groups)
        gates = [stage for stage in self.stages if stage.tests]
        alike = len({(stage.let_in, stage.passed, stage.must_pass) for stage in gates}) == 1
        counts = _counts(gates[0], len({stage.tests for stage in gates})) if alike else ""
        if not self.groups:
            return f"Seen by everybody on {place()}{counts}."
        who = (
            f"the members of {named}" if self.n_see is None else f"{_people(self.n_see)} of {named}"
        )
        return f"Seen by {who}{counts}. Nobody else sees these HITs."


def place() -> str:
    """Return where the workers come from, for people to read."""
    return f"the marketplace at {settings.MTURK_ENDPOINT_URL}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _counts(stage: StageAudience, n_gates: int) -> str:
    """Return, behind who sees it, who may take it at once and who has to pass a test first.

    n_gates: of how many tests that is so, one a stage.
    """
    named = " or ".join(f"“{title}”" for title in stage.tests)
    test = named if n_gates == 1 else "a stage's test"
    told = f"; {stage.let_in:,} of them let in without a test" if stage.let_in else ""
    told += f"; {stage.passed:,} passed {test}" if stage.passed else ""
    if stage.must_pass is None:
        others = "everybody else" if stage.let_in or stage.passed else "everybody"
        return f"{told}; {others} must pass {test} first"
    return told + (f"; {stage.must_pass:,} must pass {test} first" if stage.must_pass else "")


def audience_of(collection: Collection) -> Audience:
    """Return who sees what; a marketplace that is away is said, not waited for.

    Expects no transaction.
    """
    names = tuple(parameters_of(collection).people.groups)
    try:
        with asked_once():
            found = groups.listed()
            chosen = [group for group in found if group.name in names]
            people = {person for group in chosen for person in groups.members(group)}
            people -= groups.blocked() if people else set()
    except MarketplaceError as error:
        return Audience(names, _stages(collection, None), problem=_why(error))
    known = tuple(group.name for group in found)
    if not names:
        return Audience(names, _stages(collection, None), known=known)
    let_in = qualifications.untested(collection).filter(state=GrantState.GRANTED)
    return Audience(
        names,
        _stages(collection, people),
        n_see=len(people),
        unknown=tuple(name for name in names if name not in known),
        outside=len(_holders(let_in) - people),
        known=known,
    )


def _why(error: MarketplaceError) -> str:
    if error.permanent:
        return f"Nobody can be counted now: {error}"
    return "The marketplace does not answer: nobody can be counted now."


def _stages(collection: Collection, people: set[str] | None) -> tuple[StageAudience, ...]:
    tables = parameters_of(collection).stages()
    return tuple(_stage(stage, tables, people) for stage in collection.stages.all())


def _stage(stage: Stage, tables: dict[str, StageTable], people: set[str] | None) -> StageAudience:
    table = tables[stage.name]
    opened_by = [table.requires] if table.requires else qualifications.roles_required(table)
    grants = Grant.objects.filter(
        qualification__stage__collection=stage.collection_id,
        qualification__stage__name__in=opened_by,
        state=GrantState.GRANTED,
    )
    closed = Eligibility.objects.filter(stage=stage, is_closed=True).values("worker")
    gone = _persons(Identity.objects.filter(worker__in=closed))
    let_in, passed = (
        _holders(grants.filter(submitted_at__isnull=is_let_in)) - gone
        for is_let_in in (True, False)
    )
    if people is not None:
        let_in, passed = let_in & people, passed & people
    return StageAudience(
        title=table.title,
        is_test=table.qualifies,
        tests=tuple(tables[name].title for name in opened_by),
        n_see=None if people is None else len(people - gone),
        let_in=len(let_in - passed),
        passed=len(passed),
    )


def _holders(grants: QuerySet[Grant]) -> set[str]:
    return _persons(Identity.objects.filter(worker__grants__in=grants))


def _persons(rows: QuerySet[Identity]) -> set[str]:
    here = {"provider": marketplace.PROVIDER, "environment": marketplace.environment()}
    return set(rows.filter(**here).values_list("person", flat=True))
