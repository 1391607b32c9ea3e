"""A worker takes a qualification test: begin, hand in within its time, be scored or wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from common.wrong_clocks import pull_back
from marketplace.hits.questions.answers import form_answers_xml
from marketplace.hits.questions.question_form import QuestionForm, answers_of, parse
from marketplace.models import QualificationRequest, QualificationType, RequestState, Worker
from marketplace.notifications.system_messages import system_message
from marketplace.people.qualifications.answer_key import read_key, score
from marketplace.people.qualifications.grants import grant, locked_request
from marketplace.router import DATABASE
from marketplace.templatetags.marketplace_words import duration

# A form that was sent in the last second still arrives.
GRACE = timedelta(seconds=60)
OPEN = (RequestState.STARTED, RequestState.PENDING)


class NotTakenError(Exception):
    """The test cannot be taken; the message is a sentence for the worker."""


@dataclass(frozen=True)
class Outcome:
    """What became of a test: things to mend, or a value, or neither (the requester decides)."""

    problems: tuple[str, ...] = ()
    value: int | None = None


def begin(worker: Worker, row: QualificationType, now: datetime) -> QualificationRequest:
    """Return the worker's test in progress, begun now or before; its time runs from then.

    Raises NotTakenError when it cannot be taken (again, or yet).
    """
    if not row.test or not row.is_active or row.deleted_at is not None:
        raise NotTakenError(_("This test is not given any more."))
    _end_overdue(row, worker, now)
    found = row.requests.filter(worker=worker, state__in=OPEN).first()
    if found is None:
        _check_retry(row, worker, now)
        found = _begin(worker, row, now)
    if found.state == RequestState.PENDING:
        raise NotTakenError(_("You have taken this test; the requester has not decided yet."))
    return found


def due_at(request: QualificationRequest) -> datetime:
    """Return when the time of a test in progress is up; expects its type loaded."""
    assert request.started_at is not None
    seconds = request.qualification_type.test_duration_seconds or 0
    return request.started_at + timedelta(seconds=seconds)


def form_of(request: QualificationRequest) -> QuestionForm:
    """Return the test as it was when it was begun."""
    return parse(request.test)


def hand_in(request: QualificationRequest, sent: Mapping[str, list[str]], now: datetime) -> Outcome:
    """Return what became of the answers; with problems nothing is handed in and time goes on.

    When the requester has deleted the qualification meanwhile, the answers are kept all the same;
    when they took it away from this worker, they decide and the answer key does not.
    Raises NotTakenError when the time was up or it was handed in before.
    """
    row = request.qualification_type
    _end_overdue(row, request.worker, now)
    given, problems = answers_of(form_of(request), sent)
    with transaction.atomic(using=DATABASE):
        found = locked_request(request)
        if found is None or found.state != RequestState.STARTED:
            raise NotTakenError(
                _("This test is over: its time was up, or it was handed in before.")
            )
        # The account may have been merged since the page read it.
        request, worker = found, found.worker
        if problems:
            return Outcome(problems=tuple(problems))
        request.answer, request.submitted_at = form_answers_xml(given), now
        request.state = RequestState.PENDING
        value = None
        if row.deleted_at is not None:
            # Nobody can decide on it, but what was written is the worker's to keep.
            request.state, request.decided_at = RequestState.REJECTED, now
            withdrawn = system_message("reason", "test_withdrawn")
            request.reason, request.reason_message = withdrawn.values()
        elif row.answer_key and not row.grants.filter(worker=worker, is_revoked=True).exists():
            value = score(given, read_key(row.answer_key))
            grant(row, worker, value, now)
            request.state, request.decided_at = RequestState.GRANTED, now
        request.save()
    return Outcome(value=value)


def _begin(worker: Worker, row: QualificationType, now: datetime) -> QualificationRequest:
    try:
        with transaction.atomic(using=DATABASE):
            return QualificationRequest.objects.create(
                qualification_type=row,
                worker=worker,
                state=RequestState.STARTED,
                started_at=now,
                submitted_at=now,
                test=row.test,
            )
    except IntegrityError:
        # Two tabs at once: both see the one that was quicker.
        return row.requests.get(worker=worker, state__in=OPEN)


def last_request(
    row: QualificationType, worker: Worker, now: datetime
) -> QualificationRequest | None:
    """Return the worker's newest request, made now at the latest, or None without one."""
    mine = row.requests.filter(worker=worker)
    pull_back(mine, "submitted_at", now)
    return mine.order_by("-pk").first()


def _check_retry(row: QualificationType, worker: Worker, now: datetime) -> None:
    last = last_request(row, worker, now)
    if last is None:
        return
    if row.retry_delay_seconds is None:
        raise NotTakenError(_("This test can be taken once only, and you have taken it."))
    again_at = last.submitted_at + timedelta(seconds=row.retry_delay_seconds)
    if now < again_at:
        wait = duration(max(60, int((again_at - now).total_seconds())))
        raise NotTakenError(_("You can take this test again in %(wait)s.") % {"wait": wait})


def _end_overdue(row: QualificationType, worker: Worker, now: datetime) -> None:
    over = now - timedelta(seconds=row.test_duration_seconds or 0) - GRACE
    row.requests.filter(worker=worker, state=RequestState.STARTED, started_at__lte=over).update(
        state=RequestState.REJECTED, decided_at=now, **system_message("reason", "test_time_was_up")
    )
