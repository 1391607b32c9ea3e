"""Who sees a collection's HITs and who may take them, counted by the marketplace's own lists."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from django.conf import settings
from django.db.models import Count, Min, QuerySet

from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from tasks.crowd import groups, marketplace
from tasks.crowd.requester_api import MarketplaceError, asked_once
from tasks.models import Eligibility, Grant, GrantState, Identity, LeaseState, Posting, PostingState
from tasks.people import qualifications
from tasks.work.kinds.hit_words import title_of


@dataclass(frozen=True)
class HitsUp:
    """How many HITs of a stage, by its name, wait for members of any of `groups`.

    groups: () where they are for everybody.
    """

    stage: str
    groups: tuple[str, ...]
    number: int


def hits_up(collection: Collection) -> list[HitsUp]:
    """Return the HITs that wait for somebody, by their stages and whom they were posted for.

    The marketplace is asked only where the groups were ever changed: else all are as chosen.
    Raises MarketplaceError. Expects no transaction.
    """
    # HITs of a type require the same.
    rows = (
        _free(collection)
        .order_by("stage__position")
        .values("stage__name", "external_type")
        .annotate(number=Count("pk"), hit=Min("external_id"))
    )
    chosen = tuple(parameters_of(collection).people.groups)
    was_changed = _was_changed(collection)
    found = []
    for row in rows:
        try:
            required = groups.required_by(row["hit"]) if was_changed else chosen
        except MarketplaceError as error:
            if not error.permanent:
                raise
            # The marketplace has it no more.
            continue
        found.append(HitsUp(row["stage__name"], required, row["number"]))
    return found


def may_differ(collection: Collection) -> bool:
    """Return whether HITs are up that may be for others than are chosen now."""
    return _was_changed(collection) and _free(collection).exists()


def _was_changed(collection: Collection) -> bool:
    return collection.revisions.filter(key="people.groups").exists()


def _free(collection: Collection) -> QuerySet[Posting]:
    return Posting.objects.filter(
        stage__collection=collection, state=PostingState.LIVE, worker__isnull=True
    ).exclude(sessions__leases__state=LeaseState.LIVE)


def groups_needed(collection: Collection, stage: str = "") -> tuple[str, ...]:
    """Return the groups that alone see the HITs of a collection, or of one stage.

    Told by those that are up; where none is, by what will be posted. () where any is for everybody.
    Raises MarketplaceError. Expects no transaction.
    """
    asked = {each.groups for each in hits_up(collection) if stage in ("", each.stage)}
    asked = asked or {tuple(parameters_of(collection).people.groups)}
    return () if () in asked else tuple(sorted({name for names in asked for name in names}))


@dataclass(frozen=True)
class StageAudience:
    """Who sees one stage at present, and who of them may take its HITs at once.

    `tests` are the titles of the qualifications of which one opens it: () where it is open, or a
    test itself (`is_test`). `n_see` is None where nobody can be counted, as where it is
    `for_everybody`; `let_in` and `passed` may take it, let in whatever the test says and by it.
    """

    title: str
    is_test: bool
    tests: tuple[str, ...]
    n_see: int | None
    for_everybody: bool
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
    every group there is to choose from. up: the HITs that wait; None where nobody could be asked.
    """

    groups: tuple[str, ...]
    stages: tuple[StageAudience, ...]
    n_see: int | None = None
    unknown: tuple[str, ...] = ()
    outside: int = 0
    problem: str = ""
    known: tuple[str, ...] = ()
    up: tuple[HitsUp, ...] | None = ()

    @property
    def is_changed(self) -> bool:
        """Return whether HITs that are up were posted for others than are chosen now."""
        return any(set(each.groups) != set(self.groups) for each in self.up or ())

    def sentences(self) -> list[str]:
        """Return who can see what, for people to read."""
        told = [self._seen_by(), self.problem]
        if self.is_changed:
            told.append(
                "HITs stay as they were posted. To have all of them shown as those to come: pause "
                "the collection, wait until none of these is up, and resume it."
            )
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
        if self.is_changed or self.up is None:
            return self._by_posting()
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

    def _by_posting(self) -> str:
        numbers: Counter[tuple[str, ...]] = Counter()
        for each in self.up or ():
            numbers[each.groups] += each.number
        told = [
            f"{number:,} {'HIT that is' if number == 1 else 'HITs that are'} up: {_whom(names)}."
            for names, number in numbers.items()
        ]
        return " ".join([*told, f"HITs posted from now on: {_whom(self.groups)}."])


def place() -> str:
    """Return where the workers come from, for people to read."""
    return f"the marketplace at {settings.MTURK_ENDPOINT_URL}"


def _whom(names: tuple[str, ...]) -> str:
    return f"members of {' or '.join(names)} only" if names else f"everybody on {place()}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _counts(stage: StageAudience, n_gates: int) -> str:
    """Return, behind who sees it, who may take it at once and who has to pass a test first.

    n_gates: of how many tests that is so, one a stage.
    """
    named = " or ".join(f"“{title}”" for title in stage.tests)
    test = named if n_gates == 1 else "a stage's test"
    told = f"; {stage.let_in:,} of them let in without passing" if stage.let_in else ""
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
            up = tuple(hits_up(collection))
            wanted = {*names, *(name for each in up for name in each.groups)}
            members = {group.name: groups.members(group) for group in found if group.name in wanted}
            blocked = groups.blocked() if any(members.values()) else set()
    except MarketplaceError as error:
        asked = None if may_differ(collection) else ()
        all_see = asked is not None and not names
        stages = _stages(collection, lambda stage: (None, all_see))
        silent = "The marketplace does not answer: nobody can be counted now."
        told = f"Nobody can be counted now: {error}" if error.is_refusal else silent
        return Audience(names, stages, problem=told, up=asked)

    def people_of(wanted: Iterable[str]) -> set[str]:
        return {one for name in wanted for one in members.get(name, ())} - blocked

    def who_sees(stage: Stage) -> tuple[set[str] | None, bool]:
        asked = {each.groups for each in up if each.stage == stage.name} or {names}
        return (None, True) if () in asked else (people_of(chain(*asked)), False)

    people = people_of(names)
    known = tuple(group.name for group in found)
    shown = Audience(names, _stages(collection, who_sees), known=known, up=up)
    if not names:
        return shown
    let_in = qualifications.trusted_grants(collection).filter(state=GrantState.GRANTED)
    return replace(
        shown,
        n_see=len(people),
        unknown=tuple(name for name in names if name not in known),
        # Of HITs for others than are chosen they may see some.
        outside=0 if shown.is_changed else len(_holders(let_in) - people),
    )


def _stages(
    collection: Collection, who_sees: Callable[[Stage], tuple[set[str] | None, bool]]
) -> tuple[StageAudience, ...]:
    tables = parameters_of(collection).stages()
    return tuple(_stage(stage, tables, *who_sees(stage)) for stage in collection.stages.all())


def _stage(
    stage: Stage, tables: dict[str, StageTable], people: set[str] | None, for_everybody: bool
) -> StageAudience:
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
        _holders(grants.filter(is_let_in=is_let_in)) - gone for is_let_in in (True, False)
    )
    if people is not None:
        let_in, passed = let_in & people, passed & people
    return StageAudience(
        title=title_of(table),
        is_test=table.qualifies,
        tests=tuple(title_of(tables[name]) for name in opened_by),
        n_see=None if people is None else len(people - gone),
        for_everybody=for_everybody,
        let_in=len(let_in - passed),
        passed=len(passed),
    )


def _holders(grants: QuerySet[Grant]) -> set[str]:
    return _persons(Identity.objects.filter(worker__grants__in=grants))


def _persons(rows: QuerySet[Identity]) -> set[str]:
    here = {"provider": marketplace.PROVIDER, "environment": marketplace.environment()}
    return set(rows.filter(**here).values_list("person", flat=True))
