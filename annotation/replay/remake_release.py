"""Makes a release again from its log: repeats the work, the verdicts, the splits, the files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from django.db import transaction
from django.utils import timezone

from annotation.decisions.by_hand import (
    correct,
    decide_labels,
    exclude_worker,
    follow_votes,
    include_again,
    override_verdict,
)
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from annotation.release.facts import Dates
from annotation.release.log import (
    ClosedLine,
    ExclusionLine,
    InclusionLine,
    LabelsLine,
    Log,
    LogError,
    OverrideLine,
)
from annotation.release.publish_release import PublishedRelease, publish_release
from annotation.release.release_folder import SUMS, digests
from annotation.replay.recreation import OWN_MAINTENANCE, recreate_collection
from annotation.replay.rerun import Rerun
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import run_of_answers, table_of
from annotation.splits.single_hop_review import decide
from collector.models import Collection, CollectionState, Corpus
from collector.protocols.creation import parameters_of
from readers.reader import Prediction
from tasks import hits
from tasks.crowd import marketplace
from tasks.ledger import budget, payments
from tasks.lifecycle.publication import close_stage, finish, pause, reopen
from tasks.models import (
    Answer,
    Payment,
    PaymentKind,
    PaymentState,
    Question,
    ReceiptState,
    Submission,
    Worker,
)
from tasks.simulation.identity import marked


@dataclass(frozen=True)
class RemadeRelease:
    """A release made again; `different` lists the files that differ from the log's release."""

    issued: PublishedRelease
    different: list[str]


def remake(
    log: Log,
    corpus: Corpus,
    out: Path | None,
    now: datetime,
    advance: Callable[[], object] = lambda: None,
    transport: httpx.BaseTransport | None = None,
) -> RemadeRelease:
    """Repeat the log's work on a new collection over `corpus`, and return its release.

    `advance` is called after each step of the work. Raises LogError, and the errors of recreating
    the collection, of working and of publishing. If the work has begun by then, the collection
    stays, and jobs maintain it.
    """
    check_unused(log)
    collection = recreate_collection(log, corpus, now)
    own = Collection.objects.filter(pk=collection.pk)

    def step() -> None:
        own.update(maintained_until=timezone.now() + OWN_MAINTENANCE)
        advance()

    try:
        rerun = Rerun(collection, log, transport)
        rerun.run(step)
        mark_again(log, rerun.leases)
        pause(collection)
        collection.refresh_from_db()
        decide_collection(collection, now)
        settle_again(collection, log, rerun.leases, now)
        decide_again(collection, log, now)
        judge_again(collection, log, now)
        make_splits(collection, now)
        line = log.collection
        issued = publish_release(
            collection,
            out,
            now,
            dates=Dates(line.published, line.began, line.ended) if line.published else None,
        )
    finally:
        own.update(maintained_until=None)
    return RemadeRelease(issued, different_files(log, issued.folder))


def check_unused(log: Log) -> None:
    """Raise LogError if the marketplace has HITs of the log's collection."""
    stages = {line.stage for line in log.units.values()}
    key = log.collection.pseudonym_key
    if marketplace.find_hits(str(hits.token_of(key, stage, 0)) for stage in stages):
        raise LogError(
            "The marketplace has HITs of this collection: replay the log with another one, whose "
            "database is empty too."
        )


def decide_again(collection: Collection, log: Log, now: datetime) -> None:
    """Repeat the decisions made by hand, in their order; raises LogError."""
    verdicts = Verdict.objects.filter(question__stage__collection=collection)
    for line in log.acts:
        if isinstance(line, OverrideLine):
            _override(collection, _verdict(verdicts, line.question), line, now)
        elif isinstance(line, LabelsLine):
            stage = collection.stages.get(name=line.stage)
            vote = stage.answers.get(question__key=line.question, worker=line.worker)
            parameters = parameters_of(collection)
            decide_labels(vote.question, vote, line.why, line.by, now, parameters)
        elif isinstance(line, ExclusionLine):
            worker, _ = Worker.objects.get_or_create(pk=line.worker)
            exclude_worker(collection, worker, line.why, line.by, now)
        elif isinstance(line, InclusionLine):
            out = collection.exclusions.get(worker=line.worker, back_at=None)
            include_again(out, line.why, line.by, now)
        elif isinstance(line, ClosedLine):
            close_stage(collection.stages.get(name=line.stage))
            decide_collection(collection, now)
        else:
            change = finish if line.state == CollectionState.FINISHED else reopen
            change(collection, line.why, line.by, now)
            collection.refresh_from_db()
            decide_collection(collection, now)
    for last in log.agreeing:
        verdict = _verdict(verdicts, last.question)
        agreeing = verdict.question.answers.filter(worker_id__in=last.workers)
        Verdict.objects.filter(pk=verdict.pk).update(
            agreeing=list(agreeing.values_list("pk", flat=True)), n_votes=last.n_votes
        )


def _override(collection: Collection, verdict: Verdict, line: OverrideLine, now: datetime) -> None:
    if line.follows_votes:
        follow_votes(verdict, line.note, line.by, now)
    elif line.correction:
        given = line.correction
        stage = collection.stages.get(name=given.stage)
        votes = verdict.question.answers.filter(stage=stage, corrected_by="")
        base = votes.filter(worker_id=given.corrects).first() or Answer(
            question=verdict.question, stage=stage, synthetic=given.synthetic
        )
        correct(verdict, base, given.type, given.payload, line.note, line.by, now)
    else:
        chosen = verdict.question.answers.filter(worker_id=line.chosen).first()
        override_verdict(verdict, line.outcome, chosen, line.note, line.by, now)


def judge_again(collection: Collection, log: Log, now: datetime) -> None:
    """Repeat decisions about single-hop workers, and store the readers' answers of the log.

    The splits depend on both.
    """
    table = table_of(collection)
    if table is None:
        return
    for line in log.hops:
        decide(collection, line.worker, line.single_hop, line.by, now)
    if not log.judged:
        return
    answers = {one.question: Prediction(one.question, one.answer, one.loss) for one in log.judged}
    written = Question.objects.filter(stage__collection=collection).values_list("pk", "key")
    run_of_answers(
        collection,
        table,
        [(pk, key) for pk, key in written if key in answers],
        answers,
        log.judged[0].reader,
        "the log",
        now,
    )


def different_files(log: Log, folder: Path) -> list[str]:
    """Return the names of the files that differ from the log's release, or are on one side only."""
    made = {name: str(entry["sha256"]) for name, entry in digests(folder).items() if name != SUMS}
    return sorted({name for name, _ in made.items() ^ log.files.items()})


def _verdict(verdicts: Any, key: str) -> Verdict:
    found: Verdict | None = verdicts.filter(question__key=key).first()
    if found is None:
        raise LogError(f"The question {key} was decided by hand and has no votes now.")
    return found


def mark_again(log: Log, leases: Mapping[int, int]) -> None:
    """Mark the parts of answers that were made up; raises LogError. leases: see settle_again."""
    for line in log.made_up:
        given = Answer.objects.filter(
            submission__lease=leases.get(line.assignment), question__key=line.question
        ).first()
        if given is None:
            raise LogError(f"Nobody has answered {line.question}, of which a part was made up.")
        given.synthetic = line.whole
        if line.fields:
            given.payload = marked(given.payload, line.fields)
        given.save(update_fields=["synthetic", "payload"])


def settle_again(
    collection: Collection, log: Log, leases: Mapping[int, int], now: datetime
) -> None:
    """Repeat rejections and bonuses; the marketplace of a replay is not notified.

    leases: primary keys of the replayed leases, by the places in the log where they were taken.
    """
    for one in log.assignments:
        if one.rejected or one.bonus_cents:
            work = Submission.objects.get(lease=leases[one.taken])
            with transaction.atomic():
                if one.rejected:
                    Submission.objects.filter(pk=work.pk).update(state=ReceiptState.REJECTED)
                    payments.withhold(work, now)
                if one.bonus_cents:
                    Payment.objects.create(
                        collection=collection,
                        stage=work.lease.unit.stage,
                        worker=work.lease.worker,
                        lease=work.lease,
                        posting=work.lease.session.posting,
                        kind=PaymentKind.BONUS,
                        amount_cents=one.bonus_cents,
                        key=f"replayed:{work.pk}",
                        by="the log",
                        state=PaymentState.CONFIRMED,
                        created_at=now,
                        confirmed_at=now,
                    )
                    budget.hold_anyway(collection.pk, one.bonus_cents, "a replayed bonus", now)
                    budget.earn(
                        collection.pk, reserved_cents=one.bonus_cents, cost_cents=one.bonus_cents
                    )
