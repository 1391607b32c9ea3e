"""How a collection stands: its stages, one line of figures, what to do next, what happened."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.collections.parameter_form import label_of, readable_value
from annotation.dashboard.lists import Segment, segments
from annotation.dashboard.money.assignments import Todo, decisions_of
from annotation.dashboard.money.spending import Pace, Spending, pace_of
from annotation.dashboard.worker_names import People
from annotation.decisions.counted_work import counted_without
from annotation.models import Exclusion, Override, Release, Verdict
from annotation.reports.attention import Attention, attention_to, counted
from annotation.splits.human_performance import sampled_questions
from annotation.splits.kept_questions import kept_questions
from collector.models import Collection, CollectionRevision, CollectionState, Stage, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import LabelTable
from tasks.costs import MADE, StageEstimate
from tasks.models import (
    ON_MARKETPLACE,
    Grant,
    GrantState,
    Payment,
    PaymentKind,
    Posting,
    PostingState,
    ProblemReport,
    RejectionState,
    RejectionStep,
    Submission,
    Unit,
)
from tasks.work.units import ended_stages

FOR_OTHERS = (
    "1 stage waits for another person: those who came so far may not do what is left of it, as "
    "nobody answers or judges their own work",
    "{} stages wait for another person: those who came so far may not do what is left of them, as "
    "nobody answers or judges their own work",
)
SHOWN = 8
# What was done, by whether it was whatever the test says, and whether they have it.
DID = {
    (False, True): "granted",
    (False, False): "declined",
    (True, True): "let in",
    (True, False): "no longer lets in",
}
# The steps of a rejection that people take.
REJECTING = {
    RejectionState.PROPOSED: "proposed to reject work of {}",
    RejectionState.AGREED: "confirmed the rejection of work of {}",
    RejectionState.WITHDRAWN: "withdrew the rejection of work of {}",
    RejectionState.RESTORING: "took back the rejection of work of {}",
}


@dataclass(frozen=True)
class StageProgress:
    """Places of one stage: handed in, being worked on, open on the marketplace, and in all.

    `planned` is what the seeds promise, and what there was once `comes` is False: no more places
    come by themselves. `grants` counts a qualification's submissions by what was decided, and who
    was let in without one (`let_in_granted`); `cents_per_hour` is by the minutes expected, before
    anybody has worked.
    """

    stage: Stage
    table: StageTable
    planned: int
    comes: bool
    submitted: int
    at_work: int
    live_hits: int
    grants: dict[str, int]
    pace: Pace | None
    cents_per_hour: int
    below_floor: bool

    @property
    def waiting(self) -> int:
        """Return how many planned places nobody has taken yet."""
        return max(0, self.planned - self.submitted - self.at_work)

    @property
    def labels(self) -> bool:
        """Return whether its workers label by a scheme."""
        return isinstance(self.table, LabelTable)

    @property
    def bar(self) -> list[Segment]:
        """Return the stage's bar."""
        return segments([("done", self.submitted), ("live", self.at_work)], self.planned)


def stages_of(
    collection: Collection, parameters: Parameters, estimates: list[StageEstimate]
) -> list[StageProgress]:
    """Return the collection's stages in order; the number of queries follows the stages alone."""
    counted = Unit.objects.filter(stage__collection=collection).order_by().values_list("stage_id")
    sums = counted.annotate(places=Sum(MADE), at_work=Sum("taken"), done=Sum("submitted"))
    units = {stage: places for stage, *places in sums}
    live_hits = dict(
        Posting.objects.filter(
            stage__collection=collection, state=PostingState.LIVE, worker__isnull=True
        )
        .order_by()
        .values_list("stage_id")
        .annotate(n=Count("pk"))
    )
    grants = _grant_counts(collection)
    ended = ended_stages(collection, parameters)
    found = []
    for row in estimates:
        stage, table = row.stage, parameters.stages()[row.stage.name]
        places, taken, submitted = units.get(stage.pk, (0, 0, 0))
        planned, comes = max(row.places, places), stage.name not in ended
        if not comes and table.sample_questions and not places:
            comes = sampled_questions(collection, table).exists()
            # Where questions are placed by how hard they are, the sample is drawn of the splits.
            unplaced = kept_questions(collection).filter(seed__fold="", split_assignment=None)
            planned = planned if comes or unplaced.exists() else 0
        elif not comes:
            planned = places
        found.append(
            StageProgress(
                stage=stage,
                table=table,
                planned=planned,
                comes=comes,
                submitted=submitted,
                at_work=taken - submitted,
                live_hits=live_hits.get(stage.pk, 0),
                grants=grants.get(stage.pk, {}),
                pace=pace_of(stage, parameters),
                cents_per_hour=row.cents_per_hour,
                below_floor=row.cents_per_hour < parameters.pay.floor_cents_per_hour,
            )
        )
    return found


def places_by_stage(collections: Iterable[Collection]) -> dict[tuple[int, str], tuple[int, int]]:
    """Return (handed in, places) of every stage, by collection id and stage name; one query."""
    rows = (
        Unit.objects.filter(stage__collection__in=collections)
        .order_by()
        .values("stage__collection_id", "stage__name")
        .annotate(places=Sum(MADE), submitted=Sum("submitted"))
    )
    return {
        (row["stage__collection_id"], row["stage__name"]): (row["submitted"], row["places"])
        for row in rows
    }


def _grant_counts(collection: Collection) -> dict[int, dict[str, int]]:
    rows = (
        Grant.objects.filter(qualification__stage__collection=collection)
        .order_by()
        .values_list("qualification__stage_id", "state", "is_let_in")
        .annotate(n=Count("pk"))
    )
    found: dict[int, dict[str, int]] = {}
    for stage, state, is_let_in, n in rows:
        found.setdefault(stage, {})[f"let_in_{state}" if is_let_in else state] = n
    return found


def summaries_of(collections: Sequence[Collection]) -> list[dict[str, Any]]:
    """Return a summary of each; the number of queries does not depend on how many there are.

    `unreadable` says why a collection cannot be opened by this installation.
    """
    attention = attention_to(collections)
    places = places_by_stage(collections)
    ids = [collection.pk for collection in collections]
    kept = counted(
        Verdict.objects.filter(counted_without(frozenset(), "question__"), outcome="kept"),
        "question__stage__collection",
        ids,
    )
    releases = counted(Release.objects.all(), "collection", ids)
    found = []
    for collection in collections:
        parameters, unreadable = None, ""
        try:
            parameters = parameters_of(collection)
        except ProtocolError as error:
            unreadable = str(error)
        stages = parameters.stages() if parameters else {}
        main = [name for name, table in stages.items() if not table.qualifies]
        done = [places.get((collection.pk, name), (0, 0)) for name in main]
        submitted, n_places = (
            (sum(column) for column in zip(*done, strict=True)) if done else (0, 0)
        )
        found.append(
            {
                "collection": collection,
                "parameters": parameters,
                "attention": attention[collection.pk],
                "submitted": submitted,
                "places": n_places,
                "kept": kept.get(collection.pk, 0),
                "releases": releases.get(collection.pk, 0),
                "unreadable": unreadable,
                "bar": segments([("done", submitted)], n_places),
                "money_bar": segments(
                    [
                        ("confirmed", collection.spent_cents),
                        ("reserved", collection.reserved_cents),
                    ],
                    collection.budget_cents,
                ),
            }
        )
    return found


def todo_of(
    context: CollectionContext, stages: list[StageProgress], attention: Attention
) -> list[Todo]:
    """Return what waits, the urgent first; no query."""
    found = []
    for row in stages:
        waiting = row.grants.get(GrantState.SUBMITTED, 0)
        if waiting:
            sentence = f"{_counted(waiting, 'submission')} to inspect: {row.stage}"
            found.append(Todo(sentence, context.url("qualification", stage=row.stage.name), True))
        if row.pace and row.pace.cents_per_hour and row.pace.below_floor:
            hourly = context.price(row.pace.cents_per_hour)
            floor = context.price(context.parameters.pay.floor_cents_per_hour)
            sentence = f"{row.stage} pays {hourly} an hour, below your floor of {floor}"
            found.append(Todo(sentence, context.url("money"), True))
    if attention.problems:
        sentence = f"{_counted(attention.problems, 'problem')} reported by workers"
        found.append(Todo(sentence, context.url("problems"), True))
    if attention.partner_reports:
        sentence = f"{_counted(attention.partner_reports, 'report')} of a partner to decide"
        found.append(Todo(sentence, context.url("partners"), True))
    if attention.unpaid:
        sentence = f"{_counted(attention.unpaid, 'payment')} for cut-off work not made yet"
        found.append(Todo(sentence, context.url("money"), True))
    if attention.bonuses:
        sentence = f"{_counted(attention.bonuses, 'bonus payment')} refused by the marketplace"
        found.append(Todo(sentence, context.url("money") + "#refused", True))
    found += decisions_of(context, attention)
    if attention.for_others:
        one, many = FOR_OTHERS
        sentence = one if attention.for_others == 1 else many.format(attention.for_others)
        found.append(Todo(sentence, context.url("people")))
    if attention.labels:
        sentence = f"{_counted(attention.labels, 'question')} whose labels differ, to decide"
        found.append(Todo(sentence, context.url("questions") + "?outcome=labels"))
    if attention.fallen:
        sentence = f"{_counted(attention.fallen, 'decision')} by hand to make again"
        found.append(Todo(sentence, context.url("questions") + "?outcome=again"))
    if attention.left_out:
        sentence = f"{_counted(attention.left_out, 'question')} excluded by the votes"
        found.append(Todo(sentence, context.url("questions") + "?outcome=dropped"))
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True)
class NextStep:
    """`url` is where the button leads; with `posts` it sends a form there.

    `hits_wait`: on the marketplace, for workers to take; with `untried` nobody has yet.
    """

    sentence: str
    label: str = ""
    url: str = ""
    posts: bool = False
    hits_wait: bool = False
    untried: bool = False


def is_all_closed(collection: Collection, stages: list[StageProgress]) -> bool:
    """Return whether it is paused with no stage open: opening one hands out work again."""
    is_open = any(row.stage.state == StageState.OPEN for row in stages)
    return collection.state == CollectionState.PAUSED and not is_open


def next_step(
    context: CollectionContext,
    stages: list[StageProgress],
    money: Spending,
    n_seeds: int,
    n_kept: int,
    n_releases: int,
    *,
    judged: bool = True,
    decided: bool = True,
) -> NextStep:
    """Return the step, by what stands in the way first; no query.

    judged: whether the difficulty is, where the protocol places by it. decided: whether every
    vote that was given is decided on.
    """
    state = context.collection.state
    if state == CollectionState.FINISHED:
        return _when_finished(context, stages, n_kept, n_releases, judged)
    if not n_seeds:
        sentence = "Choose the paragraphs that workers start from."
        return NextStep(sentence, "Choose seeds", context.url("seeds"))
    cheapest = min(row.table.reward_cents for row in stages)
    if money.free < cheapest and not money.reserved:
        sentence = f"The budget left does not pay a single HIT ({context.price(cheapest)})."
        if state == CollectionState.DRAFT:
            sentence += f" The whole collection costs {context.price(money.maximum)} at most."
        return NextStep(sentence, "Set the budget", "#budget")
    if state == CollectionState.DRAFT:
        sentence = f"Everything is ready. It costs {context.price(money.maximum)} at most."
        return NextStep(sentence, "Look it over and publish", context.url("publish"))
    if state == CollectionState.PAUSED:
        if is_all_closed(context.collection, stages):
            return NextStep(
                "Paused, and every stage is closed. Open one below, and work is handed out again."
            )
        sentence = "No new work is handed out. Who is at work finishes and is paid."
        return NextStep(sentence, "Resume", context.url("publish"), posts=True)
    return _while_collecting(context, stages, n_kept, n_releases, judged, decided)


def _when_finished(
    context: CollectionContext,
    stages: list[StageProgress],
    n_kept: int,
    n_releases: int,
    judged: bool,
) -> NextStep:
    at_work = sum(row.at_work for row in stages)
    if at_work:
        who = "one person is" if at_work == 1 else f"{at_work} people are"
        sentence = f"Finished: nobody gets new work, {who} at work still."
        return NextStep(sentence, "What stays to be done", context.url("finish"))
    if n_releases:
        return NextStep("Finished and released.", "See the releases", context.url("releases"))
    if n_kept:
        return _release(context, "Finished.", judged)
    sentence = "Finished: nobody gets new work."
    return NextStep(sentence, "What stays to be done", context.url("finish"))


def _while_collecting(
    context: CollectionContext,
    stages: list[StageProgress],
    n_kept: int,
    n_releases: int,
    judged: bool,
    decided: bool,
) -> NextStep:
    for row in stages:
        waiting = row.grants.get(GrantState.SUBMITTED, 0)
        if waiting:
            who = "One person waits" if waiting == 1 else f"{waiting} people wait"
            url = context.url("qualification", stage=row.stage.name)
            return NextStep(f"{who} for you to read their work and approve it.", "Inspect", url)
    main = [row for row in stages if not row.table.qualifies]
    # Who is at work on a stage that was closed since goes on.
    busy = any(
        row.at_work or (row.waiting and row.comes and row.stage.state == StageState.OPEN)
        for row in main
    )
    if n_releases and not busy:
        sentence = "All work is in, and there is a release. Finish the collection if it is enough."
        return NextStep(sentence, "Finish", context.url("finish"))
    if n_kept and not busy:
        return _release(context, "All work is in.", judged)
    if not busy and any(row.submitted for row in main):
        if not decided:
            return NextStep(
                "All work is in, and is being decided on. This page keeps itself up to date."
            )
        sentence = "All work is in, and no question is kept. See what became of them, or add seeds."
        return NextStep(sentence, "See the questions", context.url("questions"))
    return NextStep(
        f"{_under_way(stages)} This page keeps itself up to date.",
        hits_wait=any(row.live_hits for row in stages),
        untried=not any(row.submitted or row.at_work for row in stages),
    )


def _release(context: CollectionContext, so_far: str, judged: bool) -> NextStep:
    if not judged:
        sentence = f"{so_far} Judge how hard the questions are: their splits follow it."
        return NextStep(sentence, "Judge the difficulty", context.url("difficulty"))
    sentence = f"{so_far} Look through the verdicts, then make a release."
    return NextStep(sentence, "Make a release", context.url("releases"))


def _under_way(stages: list[StageProgress]) -> str:
    at_work = sum(row.at_work for row in stages)
    live_hits = sum(row.live_hits for row in stages)
    if at_work:
        return "One person is at work." if at_work == 1 else f"{at_work:,} people are at work."
    if live_hits:
        some = "One HIT waits" if live_hits == 1 else f"{live_hits:,} HITs wait"
        return f"{some} on the marketplace for workers to take."
    return "No HIT is up. The next ones appear by themselves as soon as there is work to hand out."


@dataclass(frozen=True)
class Event:
    """One sentence and when."""

    at: datetime
    sentence: str


def events_of(context: CollectionContext, people: People) -> list[Event]:
    """Return the newest events, newest first; one query for each kind of event."""
    kinds = (
        *(_submissions, _grants, _problems, _overrides),
        *(_extras, _rejections, _exclusions, _revisions, _releases),
    )
    found = [event for kind in kinds for event in kind(context, people)]
    return sorted(found, key=attrgetter("at"), reverse=True)[:SHOWN]


def _submissions(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Submission.objects.filter(lease__unit__stage__collection=context.collection)
    for row in rows.select_related("lease__unit__stage").order_by("-received_at")[:SHOWN]:
        title = str(row.lease.unit.stage)
        yield Event(row.received_at, f"{people.name(row.lease.worker_id)} handed in: {title}.")


def _grants(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Grant.objects.filter(
        qualification__stage__collection=context.collection, decided_at__isnull=False
    )
    for row in rows.select_related("qualification__stage").order_by("-decided_at")[:SHOWN]:
        did = DID[row.is_let_in, row.state == GrantState.GRANTED]
        stage = row.qualification.stage
        sentence = f"{row.decided_by} {did} {people.name(row.worker_id)}: {stage}."
        yield Event(row.decided_at, sentence)  # type: ignore[arg-type]


def _problems(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = ProblemReport.objects.filter(lease__unit__stage__collection=context.collection)
    for row in rows.select_related("lease").order_by("-at")[:SHOWN]:
        yield Event(row.at, f"{people.name(row.lease.worker_id)} reported a problem.")


def _overrides(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Override.objects.filter(verdict__question__stage__collection=context.collection)
    for row in rows.order_by("-at")[:SHOWN]:
        did = "keeps the question" if row.new_outcome == "kept" else "excludes the question"
        overrode = f"{row.by} overrode a verdict: {did}."
        by_votes = f"{row.by} gave a question back to its votes."
        yield Event(row.at, by_votes if row.follows_votes else overrode)


def _extras(context: CollectionContext, people: People) -> Iterator[Event]:
    """What was paid on top by somebody's decision; a bonus of a rule says nobody's name."""
    rows = Payment.objects.filter(
        Q(kind=PaymentKind.COMPENSATION) | Q(kind=PaymentKind.BONUS) & ~Q(by=""),
        collection=context.collection,
    )
    for row in rows.order_by("-created_at")[:SHOWN]:
        who, amount = people.name(row.worker_id), context.price(row.amount_cents)
        sentence = f"{row.by} gave {who} a bonus of {amount}."
        if row.kind == PaymentKind.COMPENSATION:
            sentence = f"{who} is compensated with {amount}."
        elif row.by == ON_MARKETPLACE:
            sentence = f"A bonus of {amount} for {who} was found on the marketplace."
        yield Event(row.created_at, sentence)


def _rejections(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = RejectionStep.objects.filter(
        rejection__session__posting__stage__collection=context.collection, state__in=REJECTING
    )
    for row in rows.select_related("rejection__session").order_by("-at", "-pk")[:SHOWN]:
        who = people.name(row.rejection.session.worker_id)
        did = REJECTING[RejectionState(row.state)]
        yield Event(row.at, f"{row.by} {did.format(who)}.")


def _exclusions(context: CollectionContext, people: People) -> Iterator[Event]:
    rows = Exclusion.objects.filter(collection=context.collection)
    for row in rows.order_by(Coalesce("back_at", "at").desc())[:SHOWN]:
        who = people.name(row.worker_id)
        yield Event(row.at, f"{row.by} excluded everything by {who}.")
        if row.back_at:
            yield Event(row.back_at, f"{row.back_by} included the work of {who} again.")


def _revisions(context: CollectionContext, people: People) -> Iterator[Event]:
    for row in context.collection.revisions.order_by("-at")[:SHOWN]:
        yield Event(row.at, f"{row.by} {_revised(context, row)}.")


def _revised(context: CollectionContext, row: CollectionRevision) -> str:
    if row.key == "budget_cents":
        return f"set the budget to {context.price(row.new)}"
    if row.key == "state":
        done = row.new == CollectionState.FINISHED
        return "finished the collection" if done else "reopened the collection"
    return f"changed {label_of(row.key)}: {readable_value(row.key, row.new, context.parameters)}"


def _releases(context: CollectionContext, people: People) -> Iterator[Event]:
    for row in Release.objects.filter(collection=context.collection).order_by("-created_at")[
        :SHOWN
    ]:
        yield Event(row.created_at, f"Release {row.number} was made.")
