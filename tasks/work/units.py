"""Bundles items into the units that are handed out, each of one redundancy."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from collector.models import Collection, Seed, Stage, StageState
from collector.models.corpus import CorpusKind
from collector.protocols.parameters import FOLDS, Parameters, StageTable
from tasks.models import (
    Answer,
    GrantState,
    Lease,
    LeaseState,
    Question,
    Skip,
    Submission,
    TicketState,
    Topic,
    Unit,
    UnitItem,
    Worker,
    WorkerBlock,
)
from tasks.models.people import ARCHIVE
from tasks.work.kinds.registry import kind_of

# Two writers' questions let each of them be examined on the other's.
EXAMINATION_UNITS = 2


def bundle(stage: Stage, parameters: Parameters) -> int:
    """Return how many units were made of the stage's items that wait for one.

    Whole bundles are made at once; a smaller last one only when no more items can come. A finished
    dialog is a bundle of its own, and a stage of dialogs has tickets, which hold no items.
    Runs under a lock on the stage's row, so that no item enters two units; where no item waits,
    nothing is locked.
    """
    table = parameters.stages()[stage.name]
    if table.sample_questions:
        # Its questions are drawn once all are decided: not here.
        return 0
    waiting = None if kind_of(table).pairs_workers else _waiting(stage, table, parameters)
    if waiting is not None and not (waiting.exists() or _skipped(stage, table)):
        return 0
    with transaction.atomic():
        Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
        if waiting is None:
            return top_up(stage, table)
        if table.items_from == "seeds":
            skipped = stage.collection.seeds.filter(pk__in=_skipped(stage, table))
            # A skipped seed waits for others: a HIT of one would be paid like a whole one.
            over = is_done(stage) and not waiting.exists()
            n_new = _make(stage, table, waiting, flush=True)
            return n_new + _make(stage, table, skipped.order_by("position"), flush=over)
        if table.qualifies:
            return _make_examination(stage, table, waiting)
        source = stage.collection.stages.get(name=table.items_from)
        if kind_of(source).pairs_workers:
            return _make_of_dialogs(stage, table, waiting, parameters.stages()[source.name])
        asked = parameters.stages()[source.name]
        each = kind_of(asked).questions_per_hit(asked) or 1
        enough = all(each * asked.redundancy.of(fold) >= table.items_per_hit for fold in FOLDS)
        alike = asked.items_per_hit == 1 and enough
        return _make(stage, table, waiting, flush=is_ended(source), alike=alike)


def add_unit(stage: Stage, table: StageTable, items: Sequence[Seed | Question], usual: int) -> Unit:
    """Return a new unit of `items` that `usual` people do, or more if it is of the drawn share.

    Expects a transaction with the stage's row locked.
    """
    redundancy = usual
    if table.redundancy.percent:
        seed = f"{stage.collection.random_seed}:{stage.name}"
        redundancy = table.redundancy.of_hit(usual, _next_position(stage), seed)
    return create_unit(stage, items, redundancy)


def create_unit(stage: Stage, items: Sequence[Seed | Question], redundancy: int) -> Unit:
    """Return a new unit of `items` at the stage's next position; expects a transaction."""
    position = _next_position(stage)
    unit = Unit.objects.create(stage=stage, position=position, redundancy=redundancy)
    UnitItem.objects.bulk_create(
        UnitItem(
            unit=unit,
            position=position,
            seed=item if isinstance(item, Seed) else None,
            question=item if isinstance(item, Question) else None,
        )
        for position, item in enumerate(items)
    )
    return unit


def _next_position(stage: Stage) -> int:
    last = stage.units.aggregate(last=Max("position"))["last"]
    return 0 if last is None else int(last) + 1


def replace_work(submission_id: int) -> int:
    """Open another place for work that counts no more; returns 1, or 0 where it was done before.

    What the collection costs at most is said anew in the next round, and holds the place too.
    """
    work = Submission.objects.filter(pk=submission_id)
    with transaction.atomic():
        replaced = work.filter(replaced=False).update(replaced=True)
        if replaced:
            units = Unit.objects.filter(leases__submission=submission_id)
            units.update(redundancy=F("redundancy") + 1)
            Collection.objects.filter(stages__units__in=units).update(maximum_for="")
    return replaced


def take_back_replacement(submission_id: int) -> int:
    """Close the place that was opened for work that counts again, if nobody took it; returns 1."""
    with transaction.atomic():
        if not Submission.objects.filter(pk=submission_id, replaced=True).update(replaced=False):
            return 0
        free = Unit.objects.filter(leases__submission=submission_id, taken__lt=F("redundancy"))
        free.update(redundancy=F("redundancy") - 1)
    return 1


def is_done(stage: Stage) -> bool:
    """Return whether the stage has units and every place of each has been submitted."""
    return (
        stage.units.exists()
        and not stage.units.filter(closed=False, submitted__lt=F("redundancy")).exists()
    )


def is_ended(stage: Stage) -> bool:
    """Return whether nothing more comes of what was made: it is done, or closed and left.

    Of a closed stage comes what people are at, and what they can still hand in late.
    """
    late = Q(
        state=LeaseState.EXPIRED,
        draft__isnull=False,
        submission=None,
        session__signed_until__gt=timezone.now(),
    )
    to_come = Lease.objects.filter(Q(state=LeaseState.LIVE) | late, unit__stage=stage)
    return is_done(stage) or (stage.state == StageState.CLOSED and not to_come.exists())


def is_over(stage: Stage, parameters: Parameters) -> bool:
    """Return whether nothing more comes of the stage: no item waits for a bundle, all are done.

    A stage that is closed makes no more than the people who are at work hand in; dialogs too short
    to be taken up wait for ever.
    """
    if was_read(stage.collection):
        return True
    if stage.state == StageState.CLOSED:
        return is_ended(stage)
    return is_done(stage) and not _waits(stage, parameters)


def ended_stages(collection: Collection, parameters: Parameters) -> frozenset[str]:
    """Return the stages of which nothing more comes, as nothing more comes of what they take up.

    Also one that no item has reached. A sample that is not drawn yet counts as done: it is drawn
    of what is decided then.
    """
    found: set[str] = set()
    is_read = was_read(collection)
    # What a stage takes up stands before it.
    for stage in collection.stages.select_related("collection"):
        if parameters.stages()[stage.name].items_from not in {"seeds", *found}:
            continue
        to_do = stage.units.filter(closed=False, submitted__lt=F("redundancy"))
        if stage.state == StageState.CLOSED:
            is_over = is_ended(stage)
        else:
            is_over = not to_do.exists() and (is_read or not _waits(stage, parameters))
        if is_over:
            found.add(stage.name)
    return frozenset(found)


def _waits(stage: Stage, parameters: Parameters) -> bool:
    """Return whether anything of the stage waits for a place on a unit."""
    table = parameters.stages()[stage.name]
    if table.sample_questions:
        return False
    if kind_of(table).pairs_workers:
        topics = Topic.objects.filter(stage=stage, taken__lt=F("wanted"))
        return topics.exists() or stage.seeds.filter(topic=None).exists()
    waiting = _waiting(stage, table, parameters)
    source = parameters.stages().get(table.items_from)
    if source is not None and kind_of(source).pairs_workers:
        waiting = _of_long_dialogs(waiting, table, source)
    return bool(waiting.exists() or _skipped(stage, table))


def was_read(collection: Collection) -> bool:
    """Return whether its questions were read from published files: nobody writes or answers any."""
    if collection.corpus.kind != CorpusKind.IMPORTED:
        return False
    return Question.objects.filter(stage__collection=collection, submission=None).exists()


def _waiting(stage: Stage, table: StageTable, parameters: Parameters) -> QuerySet[Any]:
    """Return the stage's seeds or questions that are in none of its units, in their order.

    What is of a fold that nobody does, or by somebody whose work does not count, waits for nothing.
    """
    of_stage = UnitItem.objects.filter(unit__stage=stage)
    if table.items_from == "seeds":
        return stage.seeds.exclude(pk__in=of_stage.values("seed_id")).order_by("position")
    questions = Question.objects.filter(
        stage__collection=stage.collection_id, stage__name=table.items_from
    ).exclude(pk__in=of_stage.values("question_id"))
    questions = questions.exclude(made_by(left_out(stage.collection_id)))
    if parameters.stages()[table.items_from].qualifies:
        questions = questions.filter(
            worker__grants__qualification__stage=F("stage"),
            worker__grants__state=GrantState.GRANTED,
        )
    if nobody := [fold for fold in FOLDS if not table.redundancy.of(fold)]:
        questions = questions.exclude(seed__fold__in=nobody)
    return questions.select_related("seed").order_by("submission_id", "position", "id")


def left_out(collection_id: int) -> QuerySet[Worker]:
    """Return the people whose work does not count: they withdrew, or were excluded."""
    blocked = Q(pk__in=WorkerBlock.objects.filter(collection=collection_id).values("worker"))
    return Worker.objects.filter(Q(withdrawn_at__isnull=False) | blocked)


def made_by(workers: Iterable[Worker] | Iterable[str], at: str = "") -> Q:
    """Return the condition that these people wrote a question, or are the teacher of its dialog.

    A teacher answers in the stage that asks. at: the way to the question, as "question__".
    """
    taught = Answer.objects.filter(worker__in=workers, stage=F("question__stage"))
    return Q(**{f"{at}worker__in": workers}) | Q(**{f"{at}pk__in": taught.values("question")})


def drop_left_out(collection: Collection, parameters: Parameters) -> int:
    """Return how many units were dropped because their questions do not count any more.

    A unit that nobody has begun is deleted: its other questions wait for a new one. One that was
    begun is closed where none of its questions counts; who is at it may finish and is paid.
    """
    asked = Question.objects.filter(worker=OuterRef("pk"), stage__collection=collection)
    taught = Answer.objects.filter(worker=OuterRef("pk"), stage__collection=collection)
    people = left_out(collection.pk).filter(Exists(asked) | Exists(taught))
    out = list(people.values_list("pk", flat=True))
    if not out:
        return 0
    items = UnitItem.objects.filter(unit=OuterRef("pk"))
    useless = ~Exists(items.exclude(made_by(out, "question__")))
    # A sample is drawn once: what is left of it is asked as it was.
    drawn = [name for name, table in parameters.stages().items() if table.sample_questions]
    unbegun = Q(taken=0, leases=None) & (useless | ~Q(stage__name__in=drawn))
    with_place = Unit.objects.filter(
        Exists(items.filter(made_by(out, "question__"))),
        stage__collection=collection,
        closed=False,
        taken__lt=F("redundancy"),
    )
    found = list(with_place.filter(useless | unbegun).values_list("pk", flat=True))
    if found:
        with transaction.atomic():
            units = Unit.objects.filter(pk__in=found)
            # Nobody takes them meanwhile.
            list(units.select_for_update())
            units.filter(unbegun).delete()
            units.filter(useless).update(closed=True)
    return len(found)


def open_again(collection: Collection, worker: Worker) -> None:
    """Open the units that were closed because nothing of the worker's counted."""
    of_worker = UnitItem.objects.filter(made_by([worker], "question__")).values("unit")
    closed = Unit.objects.filter(stage__collection=collection, closed=True, pk__in=of_worker)
    # What was read from results of a marketplace never had a place.
    closed.exclude(leases__session__provider=ARCHIVE).update(closed=False)


def _skipped(stage: Stage, table: StageTable) -> list[int]:
    """Return the seeds that everybody who was given them has skipped, and that others may get."""
    most = kind_of(table).skips(table).per_item
    if not most:
        return []
    skips = Skip.objects.filter(stage=stage).order_by().values_list("seed_id", flat=True)
    skipped = Counter(skips)
    given = Counter(
        UnitItem.objects.filter(unit__stage=stage, seed__in=skipped)
        .order_by()
        .values_list("seed_id", flat=True)
    )
    return [seed for seed, times in skipped.items() if times == given[seed] and times < most]


def _make_examination(stage: Stage, table: StageTable, waiting: Iterable[Question]) -> int:
    """Make at most two units, each of one writer's questions."""
    made, room = 0, EXAMINATION_UNITS - stage.units.filter(closed=False).count()
    if room <= 0:
        return 0
    for _, questions in groupby(waiting, key=lambda question: question.worker_id):
        items = list(questions)[: table.items_per_hit]
        if made < room and len(items) == table.items_per_hit:
            create_unit(stage, items, table.redundancy.train)
            made += 1
    return made


def _make_of_dialogs(
    stage: Stage, table: StageTable, waiting: QuerySet[Question], source: Any
) -> int:
    """Make a unit of every dialog that was long enough, its questions in the order of its turns."""
    wanted = _of_long_dialogs(waiting, table, source)
    made = 0
    for _, turns in groupby(
        wanted.order_by("seed__position", "payload__dialog", "position"),
        key=lambda turn: (turn.seed_id, turn.payload["dialog"]),
    ):
        questions = list(turns)
        add_unit(stage, table, questions, table.redundancy.of(questions[0].seed.fold))
        made += 1
    return made


def _of_long_dialogs(
    waiting: QuerySet[Question], table: StageTable, source: Any
) -> QuerySet[Question]:
    folds = [fold for fold in FOLDS if table.redundancy.of(fold)]
    return waiting.filter(seed__fold__in=folds, payload__n_pairs__gte=source.min_pairs)


def _make(
    stage: Stage,
    table: StageTable,
    waiting: Iterable[Seed | Question],
    *,
    flush: bool,
    alike: bool = False,
) -> int:
    """Make units of what waits, a smaller last one if `flush`.

    alike: whether those about one seed come together where there are enough of them: who asks has
    read one passage, and who answers does not have to read as many as there are questions.
    """
    groups: dict[int, list[Seed | Question]] = {}
    for item in waiting:
        fold = item.fold if isinstance(item, Seed) else item.seed.fold
        groups.setdefault(table.redundancy.of(fold), []).append(item)
    made = 0
    for redundancy, items in sorted(groups.items()):
        for chunk in _chunks(items, table.items_per_hit, flush=flush, alike=alike):
            add_unit(stage, table, chunk, redundancy)
            made += 1
    return made


def _chunks(
    items: list[Seed | Question], size: int, *, flush: bool, alike: bool
) -> Iterator[list[Seed | Question]]:
    parts: dict[int | None, list[Seed | Question]] = {}
    for item in items:
        about = item.seed_id if alike and isinstance(item, Question) else None
        parts.setdefault(about, []).append(item)
    rest: list[Seed | Question] = []
    for part in parts.values():
        whole = len(part) - len(part) % size
        yield from (part[start : start + size] for start in range(0, whole, size))
        rest += part[whole:]
    if flush:
        yield from (rest[start : start + size] for start in range(0, len(rest), size))


def top_up(stage: Stage, table: StageTable) -> int:
    """Return how many tickets were made; expects a transaction with the stage's row locked.

    Two people for every dialog that is wanted and does not go on yet, whether they wait already
    or are still to come. A ticket is a unit without items: its section is chosen at pairing.
    Free tickets that nobody is needed for any more are closed.
    """
    add_topics(stage, table)
    open_topics = Topic.objects.filter(stage=stage, taken__lt=F("wanted"))
    dialogs = open_topics.aggregate(n=Sum(F("wanted") - F("taken"), default=0))["n"]
    missing = 2 * dialogs - _people(stage)
    if missing < 0:
        _close(stage, -missing)
    first = _next_position(stage)
    made = Unit.objects.bulk_create(
        Unit(stage=stage, position=first + each, redundancy=1) for each in range(missing)
    )
    return len(made)


def add_topics(stage: Stage, table: StageTable) -> None:
    """Make every seed of the stage something to talk about as often as its fold asks for."""
    new = stage.seeds.filter(topic=None).order_by("position")
    Topic.objects.bulk_create(
        Topic(stage=stage, seed=seed, wanted=table.redundancy.of(seed.fold)) for seed in new
    )


def _people(stage: Stage) -> int:
    """Return how many can still be paired: free tickets, and those whose holders wait or read."""
    tickets = Unit.objects.filter(stage=stage, closed=False)
    live = Q(leases__state=LeaseState.LIVE)
    reading = live & Q(leases__ticket=None)
    waiting = live & Q(leases__ticket__state=TicketState.WAITING)
    free = Q(taken=0)
    return tickets.filter(free | reading | waiting).distinct().count()


def _close(stage: Stage, surplus: int) -> None:
    free = stage.units.filter(closed=False, taken=0).order_by("-position")[:surplus]
    for unit in list(free.values_list("pk", flat=True)):
        # Somebody may have taken it since.
        Unit.objects.filter(pk=unit, taken=0).update(closed=True)
