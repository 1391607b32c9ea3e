"""What a collection needs of its requester: the one thing best done next, and all that waits."""

from dataclasses import dataclass

from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.collections.progress import StageProgress
from annotation.dashboard.money.assignments import Todo, decisions_of
from annotation.dashboard.money.spending import Spending
from annotation.reports.attention import Attention
from collector.models import Collection, CollectionState, StageState
from tasks.models import GrantState

FOR_OTHERS = (
    "1 stage waits for another person: whoever came so far may not do what is left of it, as "
    "nobody answers or judges their own work",
    "{} stages wait for another person: whoever came so far may not do what is left of them, as "
    "nobody answers or judges their own work",
)


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

    `hits_wait`: on the marketplace, for whoever takes them; with `untried` nobody has yet.
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
