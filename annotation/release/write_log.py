"""Writes the log of assignments, and the private log of a collection, from its rows."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Prefetch, Q, Sum

from annotation.decisions.by_hand import stages_apart
from annotation.decisions.records import keyed_digest, pseudonym
from annotation.models import Exclusion, Override, Statement, Verdict
from annotation.release.facts import Dates
from annotation.release.log import (
    VERSION,
    Act,
    AgreeingLine,
    AssignmentLine,
    ClosedLine,
    CollectionLine,
    Correction,
    DecisionLine,
    DialogLine,
    ExclusionLine,
    FilesLine,
    HopsLine,
    InclusionLine,
    JudgedLine,
    LabelsLine,
    Line,
    LogError,
    MadeUpLine,
    MoveLine,
    OverrideLine,
    RevisionLine,
    SeedLine,
    StateLine,
    StatementLine,
    TextLine,
    TicketLine,
    UnitLine,
    text_sha256,
)
from annotation.splits.cross_validation import last_run
from annotation.splits.single_hop_review import decisions
from collector.code_points import CodePoints
from collector.models import Collection, SeedParagraph, StageState
from collector.models.corpus import CorpusKind
from collector.protocols.creation import parameters_of, revisions_of
from tasks.models import (
    Answer,
    Dialog,
    Grant,
    GrantState,
    Lease,
    LeaseEvent,
    LeaseEventKind,
    Payment,
    PaymentKind,
    PaymentState,
    Question,
    ReceiptState,
    Submission,
    Ticket,
    Unit,
    UnitItem,
)
from tasks.simulation.identity import SYNTHETIC_FIELDS, made_up
from tasks.work.dialog_rules import Ending, Reply, Role

ASSIGNMENTS_FILE = "assignments.jsonl"
# How many dialogs are read at a time, with all their turns; and seeds, with their passages.
CHUNK_DIALOGS, CHUNK_SEEDS = 200, 500


@dataclass(frozen=True)
class Assignment:
    """One lease. `taken` and `handed_in` are places in one order of all that happened, from 1.

    `unit` names the bundle by its content; `granted` is what a requester decided of work in a
    qualifying stage, None where nothing was: who is let in is so whatever it was like.
    """

    number: int
    taken: int
    handed_in: int | None
    lease: Lease
    unit: str
    submission: Submission | None
    granted: bool | None

    @property
    def synthetic(self) -> bool:
        """Return whether a simulated worker did it."""
        made = self.submission or self.lease.worker
        return bool(made.synthetic)


def assignment_lines(collection: Collection, withheld: Iterable[str] = ()) -> Iterator[bytes]:
    """Yield one JSON line per assignment, in the order in which they were taken.

    Fit to be published: people are pseudonyms, and there is no time at all, so that nobody is
    known by when they worked. Work is told by its SHA-256. People who have withdrawn are left out.
    withheld: splits whose passages and answers nobody may find by trying what could be in a
    bundle; where one of their questions is in it, its name and its work are sealed.
    """
    secret = _with_splits(collection, withheld)
    for one in assignments(collection):
        lease, submission = one.lease, one.submission
        unit, work = one.unit, work_digest(submission.raw) if submission else None
        if lease.unit_id in secret:
            unit = keyed_digest(collection.pseudonym_key, unit)[:32]
            work = work and keyed_digest(collection.pseudonym_key, work)
        line = {
            "assignment": one.number,
            "taken": one.taken,
            "handed_in": one.handed_in,
            "stage": lease.unit.stage.name,
            "unit": unit,
            "worker": pseudonym(collection.pseudonym_key, lease.worker_id),
            "end": lease.state,
            "counts": submission.counts if submission else None,
            "work": work,
            "granted": one.granted,
            "instructions_version": lease.instructions.version if lease.instructions else None,
            "consent_version": lease.consent_text.version if lease.consent_text else None,
            "synthetic": one.synthetic,
        }
        yield json.dumps(line).encode() + b"\n"


def assignments(collection: Collection) -> Iterator[Assignment]:
    """Yield every assignment of people who have not withdrawn, in the order they were taken."""
    steps = LeaseEvent.objects.filter(
        lease__unit__stage__collection=collection, lease__worker__withdrawn_at__isnull=True
    )
    told = steps.order_by("id").values_list("kind", "lease_id")
    places = {step: place for place, step in enumerate(told.iterator(), start=1)}
    names = {pk: name for pk, name, _ in units_of(collection)}
    decided = {
        (stage, worker): state == GrantState.GRANTED
        for stage, worker, state in Grant.objects.filter(
            qualification__stage__collection=collection
        )
        .exclude(Q(state=GrantState.SUBMITTED) | Q(is_let_in=True))
        .values_list("qualification__stage_id", "worker_id", "state")
    }
    taken = Lease.objects.filter(
        events__kind=LeaseEventKind.TAKEN, worker__withdrawn_at__isnull=True
    )
    leases = (
        taken.filter(unit__stage__collection=collection)
        .order_by("events__id")
        .select_related("unit__stage", "worker", "instructions", "consent_text", "submission")
        .select_related("session__posting")
    )
    for number, lease in enumerate(leases.iterator(), start=1):
        submission = getattr(lease, "submission", None)
        yield Assignment(
            number=number,
            taken=places[LeaseEventKind.TAKEN, lease.pk],
            handed_in=places[LeaseEventKind.HANDED_IN, lease.pk] if submission else None,
            lease=lease,
            # A unit without items is none that a page could show.
            unit=names.get(lease.unit_id, ""),
            submission=submission,
            granted=decided.get((lease.unit.stage_id, lease.worker_id)) if submission else None,
        )


def units_of(collection: Collection) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (primary key, name, keys of its items) of every unit; the name follows from the keys.

    No two units of a stage hold the same items, so names differ.
    """
    rows = (
        UnitItem.objects.filter(unit__stage__collection=collection)
        .order_by("unit_id", "position")
        .values_list("unit_id", "unit__stage__name", "seed__key", "question__key")
    )
    for (pk, stage), items in groupby(rows.iterator(), key=lambda row: row[:2]):
        keys = [seed or question for _, _, seed, question in items]
        yield pk, unit_name(stage, keys), keys


def unit_name(stage: str, keys: Iterable[str]) -> str:
    """Return what a unit of the stage is called that holds the items of these keys."""
    return uuid5(NAMESPACE_URL, "\n".join((stage, *keys))).hex


def work_digest(raw: Any) -> str:
    """Return the SHA-256 of what was handed in, the same in every database."""
    plain = json.dumps(raw, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _with_splits(collection: Collection, splits: Iterable[str]) -> set[int]:
    """Return the primary keys of the units in which a question of these splits is or was made.

    So are those of a question that may yet be placed in one.
    """
    names = list(splits)
    if not names:
        return set()
    placed = Q(split_assignment__split__in=names)
    unplaced = Q(split_assignment__isnull=True, verdict__outcome="kept")
    secret = Question.objects.filter(placed | unplaced, stage__collection=collection)
    items = UnitItem.objects.filter(
        Q(question__in=secret) | Q(seed_id__in=secret.values("seed_id")),
        unit__stage__collection=collection,
    )
    return set(items.values_list("unit_id", flat=True))


def check_loggable(collection: Collection, path: Path) -> None:
    """Raise LogError where no log can be written or none could ever be replayed."""
    if path.exists():
        raise LogError(f"{path}: it is there already; name another file.")
    work = Lease.objects.filter(unit__stage__collection=collection)
    if not work.exists():
        raise LogError(f"Nobody has worked on {collection.slug}: there is nothing to replay.")
    if work.filter(worker__withdrawn_at__isnull=False).exists():
        raise LogError(
            f"People have withdrawn their work from {collection.slug}: it is not kept in a log, "
            "and without it what others did with it cannot be done again. Export without --log."
        )


def log_lines(collection: Collection, dates: Dates) -> Iterator[bytes]:
    """Yield the lines of the log, all but the last one, which tells the files of the release.

    dates: those that the release tells.
    """
    for line in _lines(collection, dates):
        yield line.as_line()


def keep_log(lines: Path, files: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Put the written `lines` and the release's `files` at `path`, readable by its owner alone.

    Raises LogError when it cannot be written; then nothing is there.
    """
    sums = {name: str(entry["sha256"]) for name, entry in files.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file, lines.open("rb") as source:
                shutil.copyfileobj(source, file)
                file.write(FilesLine(files=sums).as_line())
            os.replace(beside, path)
        finally:
            Path(beside).unlink(missing_ok=True)
    except OSError as error:
        raise LogError(f"{path}: it cannot be written ({error.strerror}).") from None


def _lines(collection: Collection, dates: Dates) -> Iterator[Line]:
    told = {
        "version": VERSION,
        "corpus": collection.corpus.slug,
        "seed": collection.random_seed,
        **asdict(dates),
    }
    of_row = [name for name in CollectionLine.model_fields if name not in told]
    yield CollectionLine(**told, **{name: getattr(collection, name) for name in of_row})
    for text in collection.texts.order_by(CodePoints("name"), "version"):
        yield TextLine(text=text.name, version=text.version, markdown=text.markdown)
    for row in revisions_of(collection):
        yield RevisionLine(key=row.key, old=row.old, new=row.new, why=row.why, by=row.by, at=row.at)
    for said in Statement.objects.filter(collection=collection):
        yield StatementLine(about=said.about, text=said.text, by=said.by, at=said.at)
    yield from _seeds(collection)
    yield from _units(collection)
    made, given = _made(collection), _given(collection)
    places = {}
    for one in assignments(collection):
        places[one.lease.pk] = one.taken
        yield _assignment(one, made, given)
    yield from _tickets(collection, places)
    yield from _dialogs(collection, places)
    yield from _made_up(collection, places)
    yield from _decisions(collection)
    # What was done at one moment stands as it is listed there.
    for _, line in sorted(_acts(collection), key=lambda act: act[0]):
        yield line
    for stage in collection.stages.filter(state=StageState.CLOSED):
        yield ClosedLine(stage=stage.name)
    yield from _agreeing(collection)
    yield from _difficulty(collection)


def _seeds(collection: Collection) -> Iterator[SeedLine]:
    paragraphs = SeedParagraph.objects.select_related("paragraph__article").order_by("position")
    rows = collection.seeds.select_related("stage").order_by("position")
    rows = rows.prefetch_related(Prefetch("seed_paragraphs", queryset=paragraphs))
    tells_passages = collection.corpus.kind == CorpusKind.DOCUMENTS
    for seed in rows.iterator(chunk_size=CHUNK_SEEDS):
        told: dict[str, Any] = {}
        if tells_passages:
            shown = [row.paragraph for row in seed.seed_paragraphs.all()]
            told["passages"] = [(row.article.title, row.position) for row in shown]
            told["sha256"] = text_sha256([row.text for row in shown])
            told["payload"] = seed.payload
        yield SeedLine(
            key=seed.key, position=seed.position, fold=seed.fold, stage=seed.stage.name, **told
        )


def _units(collection: Collection) -> Iterator[UnitLine]:
    units = Unit.objects.filter(stage__collection=collection, leases__isnull=False).distinct()
    rows = units.order_by().values_list("pk", "stage__name", "redundancy")
    taken = {pk: (stage, redundancy) for pk, stage, redundancy in rows}
    for pk, name, items in units_of(collection):
        if pk in taken:
            stage, redundancy = taken.pop(pk)
            yield UnitLine(unit=name, stage=stage, items=items, redundancy=redundancy)
    # Tickets are left: each is a place for one person, like every other of its stage.
    for stage, redundancy in sorted(set(taken.values())):
        name = unit_name(stage, ())
        yield UnitLine(unit=name, stage=stage, items=[], redundancy=redundancy)


def _made(collection: Collection) -> dict[int, list[str]]:
    """Return the keys of the questions of each submission, as they were written."""
    made: dict[int, list[str]] = {}
    rows = Question.objects.filter(stage__collection=collection, submission__isnull=False)
    for submission, key in rows.order_by("submission_id", "position").values_list(
        "submission_id", "key"
    ):
        made.setdefault(submission, []).append(key)
    return made


def _given(collection: Collection) -> dict[int, int]:
    """Return the cents that people gave beside what rules promise, by the lease's primary key."""
    rows = Payment.objects.filter(collection=collection, kind=PaymentKind.BONUS)
    rows = rows.exclude(by="").exclude(state=PaymentState.WITHHELD).exclude(lease=None)
    return dict(rows.order_by().values_list("lease").annotate(cents=Sum("amount_cents")))


def _assignment(
    one: Assignment, made: Mapping[int, list[str]], given: Mapping[int, int]
) -> AssignmentLine:
    lease, submission = one.lease, one.submission
    return AssignmentLine(
        taken=one.taken,
        handed_in=one.handed_in,
        unit=one.unit or unit_name(lease.unit.stage.name, ()),
        worker=lease.worker_id,
        end=lease.state,
        counts=submission.counts if submission else None,
        data=submission.raw if submission else None,
        made=made.get(submission.pk, []) if submission else [],
        active_seconds=submission.active_seconds if submission else None,
        reward_cents=lease.session.posting.reward_cents,
        instructions=lease.instructions.version if lease.instructions else None,
        consent=lease.consent_text.version if lease.consent_text else None,
        synthetic=one.synthetic,
        rejected=submission is not None and submission.state == ReceiptState.REJECTED,
        bonus_cents=given.get(lease.pk, 0) if submission else 0,
        hints=list(lease.reader_hints.values_list("place", "kept")) if submission else [],
    )


def _tickets(collection: Collection, places: Mapping[int, int]) -> Iterator[Line]:
    """Yield who came to a waiting room; places: at which each lease was taken."""
    tickets = Ticket.objects.filter(stage__collection=collection).order_by("lease_id")
    for ticket in tickets.iterator():
        able = {Role.STUDENT: ticket.can_ask, Role.TEACHER: ticket.can_teach}
        yield TicketLine(
            assignment=places[ticket.lease_id],
            roles=[role for role, is_able in able.items() if is_able],
            waited_seconds=ticket.waited_seconds,
        )


def _dialogs(collection: Collection, places: Mapping[int, int]) -> Iterator[Line]:
    """Yield the dialogs as they began, the moves of each behind it; places as in `_tickets`."""
    dialogs = Dialog.objects.filter(stage__collection=collection).order_by("id")
    rows = dialogs.select_related("topic__seed", "student_ticket", "teacher_ticket")
    for number, row in enumerate(rows.prefetch_related("turns").iterator(CHUNK_DIALOGS), start=1):
        # One that is over becomes questions and answers when it is settled.
        is_over = row.settled
        yield DialogLine(
            dialog=number,
            seed=row.topic.seed.key,
            student=places[row.student_ticket.lease_id],
            teacher=places[row.teacher_ticket.lease_id],
            began=row.began_at,
            ended=row.ended_at if is_over else None,
            ending=Ending(row.ending) if is_over else None,
            ended_by=Role(row.ended_by) if is_over and row.ended_by else None,
        )
        for turn in row.turns.all() if is_over else ():
            yield MoveLine(
                dialog=number, role=Role.STUDENT, at=turn.asked_at, question=turn.question
            )
            if turn.answered_at:
                answer = Reply(turn.start, turn.end, turn.continuation, turn.affirmation)
                yield MoveLine(dialog=number, role=Role.TEACHER, at=turn.answered_at, answer=answer)


def _made_up(collection: Collection, places: Mapping[int, int]) -> Iterator[Line]:
    """Yield what nobody said of what people handed in; places as in `_tickets`."""
    answers = Answer.objects.filter(submission__lease__unit__stage__collection=collection)
    marked = answers.filter(
        Q(synthetic=True, submission__synthetic=False) | Q(payload__has_key=SYNTHETIC_FIELDS)
    )
    rows = marked.order_by("id").values_list(
        "submission__lease", "question__key", "payload", "synthetic"
    )
    for lease, question, payload, whole in rows.iterator():
        yield MadeUpLine(
            assignment=places[lease], question=question, fields=made_up(payload), whole=whole
        )


def _decisions(collection: Collection) -> Iterator[DecisionLine]:
    decided = Grant.objects.filter(qualification__stage__collection=collection).exclude(
        state=GrantState.SUBMITTED
    )
    for grant in decided.select_related("qualification__stage").order_by("decided_at", "id"):
        yield DecisionLine(
            stage=grant.qualification.stage.name,
            worker=grant.worker_id,
            granted=grant.state == GrantState.GRANTED,
            note=grant.note,
            by=grant.decided_by,
            let_in=grant.is_let_in,
        )


def _acts(collection: Collection) -> Iterator[tuple[datetime, Act]]:
    """Yield when a hand decided something of the results, and what."""
    of = {"verdict__question__stage__collection": collection}
    # What rests on the vote of somebody who withdrew has fallen with it, for good.
    fell = Q(new_chosen__worker__withdrawn_at__isnull=False) | Q(
        new_chosen__corrects__worker__withdrawn_at__isnull=False
    )
    rows = Override.objects.filter(~fell, **of).select_related(
        "verdict__question", "new_chosen__stage", "new_chosen__corrects"
    )
    for row in rows.order_by("at", "id"):
        line = OverrideLine(
            question=row.verdict.question.key,
            outcome=row.new_outcome,
            chosen=row.new_chosen.worker_id if row.new_chosen else None,
            correction=_correction(row.new_chosen),
            follows_votes=row.follows_votes,
            note=row.note,
            by=row.by,
        )
        yield row.at, line
    labels = Answer.objects.filter(
        stage__collection=collection,
        stage__name__in=stages_apart(parameters_of(collection)),
        corrects__worker__withdrawn_at__isnull=True,
    ).exclude(corrected_by="")
    labels = labels.select_related("question", "stage", "corrects")
    for answer in labels.order_by("created_at", "id"):
        assert answer.corrects, "a decision on labels rests on a vote"
        yield (
            answer.created_at,
            LabelsLine(
                question=answer.question.key,
                stage=answer.stage.name,
                worker=answer.corrects.worker_id,
                why=answer.payload["why"],
                by=answer.corrected_by,
            ),
        )
    for out in Exclusion.objects.filter(collection=collection).order_by("at", "id"):
        yield out.at, ExclusionLine(worker=out.worker_id, why=out.why, by=out.by)
        if out.back_at:
            back = InclusionLine(worker=out.worker_id, why=out.back_why, by=out.back_by)
            yield out.back_at, back
    for entered in collection.revisions.filter(key="state").order_by("at", "id"):
        yield entered.at, StateLine(state=entered.new, why=entered.why, by=entered.by)


def _agreeing(collection: Collection) -> Iterator[AgreeingLine]:
    by_hand = Verdict.objects.filter(question__stage__collection=collection, overridden=True)
    for verdict in by_hand.select_related("question").order_by(CodePoints("question__key")):
        agreeing = Answer.objects.filter(pk__in=verdict.agreeing).order_by("worker_id")
        yield AgreeingLine(
            question=verdict.question.key,
            workers=[worker for worker in agreeing.values_list("worker_id", flat=True) if worker],
            n_votes=verdict.n_votes,
        )


def _correction(answer: Answer | None) -> Correction | None:
    if answer is None or not answer.corrected_by:
        return None
    return Correction(
        stage=answer.stage.name,
        type=answer.type,
        payload=answer.payload,
        synthetic=answer.synthetic,
        corrects=answer.corrects.worker_id if answer.corrects else None,
    )


def _difficulty(collection: Collection) -> Iterator[Line]:
    for worker, decision in sorted(decisions(collection).items()):
        yield HopsLine(worker=worker, single_hop=bool(decision.single_hop), by=decision.by)
    run = last_run(collection)
    if run is None:
        return
    rows = run.predictions.order_by(CodePoints("question__key")).values_list(
        "question__key", "answer", "loss"
    )
    for key, answer, loss in rows.iterator():
        yield JudgedLine(question=key, reader=run.reader, answer=answer, loss=loss)
