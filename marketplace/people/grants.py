"""How workers come by qualifications: given, by a test, or as members of a group."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from common.wrong_clocks import pull_back
from marketplace.funds import account_of
from marketplace.models import (
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Requester,
    RequestState,
    Worker,
    WorkerGroup,
)
from marketplace.notifications.messages import (
    HOST_ACCOUNT,
    description_of,
    notify_of_qualification,
    own_message,
    system_message,
)
from marketplace.questions.answers import GivenAnswer, form_answers_xml
from marketplace.questions.question_form import (
    SCHEMAS,
    Node,
    Part,
    QuestionForm,
    XMLError,
    answers_of,
    parse,
    read_xml,
)
from marketplace.router import atomic
from marketplace.templatetags.marketplace_words import duration


def locked_request(asked: QualificationRequest) -> QualificationRequest | None:
    """Return a request as it is under its lock, None where a merge has dropped it for another.

    Expects a transaction. A merge locks accounts first, then what they asked for: so does this.
    """
    account_of(asked.worker_id)
    return QualificationRequest.objects.select_for_update().filter(pk=asked.pk).first()


def grant(row: QualificationType, worker: Worker, value: int, now: datetime) -> None:
    """Record that the worker has the qualification with this value, from now on."""
    grant_all([(row, worker, value)], now)


def grant_all(given: Iterable[tuple[QualificationType, Worker, int]], now: datetime) -> None:
    """Record many at once, each worker and type named once."""
    QualificationGrant.objects.bulk_create(
        [
            QualificationGrant(
                qualification_type=row, worker=worker, integer_value=value, granted_at=now
            )
            for row, worker, value in given
        ],
        update_conflicts=True,
        unique_fields=["qualification_type", "worker"],
        update_fields=["integer_value", "granted_at", "is_revoked", "reason", "reason_message"],
    )


NAMESPACE = SCHEMAS + "2005-10-01/AnswerKey.xsd"
MOST = 2**31 - 1


class AnswerKeyError(ValueError):
    """The key cannot be used; the message says what to change."""


@dataclass(frozen=True)
class KeyedQuestion:
    """The score of each set of selections, and of everything else."""

    scores: dict[frozenset[str], int]
    default: int


@dataclass(frozen=True)
class AnswerKey:
    """Scores by question, and how their sum becomes the qualification's value."""

    questions: dict[str, KeyedQuestion]
    value_of: Callable[[int], int]


def score(given: Iterable[GivenAnswer], key: AnswerKey) -> int:
    """Return the qualification's value for these answers."""
    chosen = {one.identifier: frozenset(one.selections) for one in given}
    total = sum(
        question.scores.get(chosen.get(identifier, frozenset()), question.default)
        for identifier, question in key.questions.items()
    )
    return max(-MOST, min(MOST, key.value_of(total)))


def read_key(xml: str) -> AnswerKey:
    """Return the key; raises AnswerKeyError."""
    try:
        root = read_xml(xml, "AnswerKey")
        if (root.namespace, root.name) != (NAMESPACE, "AnswerKey"):
            raise AnswerKeyError(f'Begin the AnswerKey with <AnswerKey xmlns="{NAMESPACE}">.')
        questions = {}
        for one in root.all("Question"):
            scores = {
                frozenset(each.text.strip() for each in option.all("SelectionIdentifier")): _whole(
                    option, "AnswerScore"
                )
                for option in one.all("AnswerOption")
            }
            keyed = KeyedQuestion(scores, _whole(one, "DefaultScore", 0))
            questions[one.text_of("QuestionIdentifier")] = keyed
        if not questions or "" in questions:
            raise AnswerKeyError("Each Question of the AnswerKey needs a QuestionIdentifier.")
        mapping = root.first("QualificationValueMapping")
        return AnswerKey(questions, _mapping(mapping) if mapping else lambda total: total)
    except XMLError as error:
        raise AnswerKeyError(str(error)) from None


def _mapping(node: Node) -> Callable[[int], int]:
    if percentage := node.first("PercentageMapping"):
        most = _whole(percentage, "MaximumSummedScore")
        if most < 1:
            raise AnswerKeyError("MaximumSummedScore has to be 1 or more.")
        return lambda total: 100 * total // most
    if scale := node.first("ScaleMapping"):
        factor = _number(scale, "SummedScoreMultiplier")
        return lambda total: int(total * factor)
    if ranges := node.first("RangeMapping"):
        found = [
            (
                _whole(one, "InclusiveLowerBound"),
                _whole(one, "InclusiveUpperBound"),
                _whole(one, "QualificationValue"),
            )
            for one in ranges.all("SummedScoreRange")
        ]
        outside = _whole(ranges, "OutOfRangeQualificationValue")

        def value_of(total: int) -> int:
            return next((value for low, high, value in found if low <= total <= high), outside)

        return value_of
    raise AnswerKeyError(
        "QualificationValueMapping holds PercentageMapping, ScaleMapping or RangeMapping."
    )


def _whole(node: Node, name: str, default: int | None = None) -> int:
    if default is not None and node.first(name) is None:
        return default
    number = _number(node, name)
    if number != int(number):
        raise AnswerKeyError(f"{name} in {node.name} has to be a whole number.")
    return int(number)


def _number(node: Node, name: str) -> float:
    try:
        number = float(node.text_of(name))
    except ValueError:
        raise AnswerKeyError(f"{node.name} needs {name}, a number.") from None
    if not abs(number) <= MOST:
        raise AnswerKeyError(f"{name} in {node.name} is too large.")
    return number


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
        last = last_request(row, worker, now)
        if last is not None and row.retry_delay_seconds is None:
            raise NotTakenError(_("This test can be taken once only, and you have taken it."))
        if last is not None:
            again_at = last.submitted_at + timedelta(seconds=row.retry_delay_seconds or 0)
            if now < again_at:
                wait = duration(max(60, int((again_at - now).total_seconds())))
                raise NotTakenError(_("You can take this test again in %(wait)s.") % {"wait": wait})
        begun = {
            "state": RequestState.STARTED,
            "started_at": now,
            "submitted_at": now,
            "test": row.test,
        }
        # Of two tabs at once both get the one that was quicker.
        found, _is_new = row.requests.get_or_create(worker=worker, state__in=OPEN, defaults=begun)
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
    with atomic():
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


def last_request(
    row: QualificationType, worker: Worker, now: datetime
) -> QualificationRequest | None:
    """Return the worker's newest request, made now at the latest, or None without one."""
    mine = row.requests.filter(worker=worker)
    pull_back(mine, "submitted_at", now)
    return mine.order_by("-pk").first()


def _end_overdue(row: QualificationType, worker: Worker, now: datetime) -> None:
    over = now - timedelta(seconds=row.test_duration_seconds or 0) - GRACE
    row.requests.filter(worker=worker, state=RequestState.STARTED, started_at__lte=over).update(
        state=RequestState.REJECTED, decided_at=now, **system_message("reason", "test_time_was_up")
    )


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question as it was asked, and the answer in the words that the worker saw."""

    name: str
    parts: tuple[Part, ...]
    said: tuple[str, ...]


def answered_questions(test: str, answer: str) -> list[AnsweredQuestion]:
    """Return the questions of a test in order, with no `said` where nothing was answered.

    Expects XML that this marketplace took in (QuestionForm) and wrote (QuestionFormAnswers).
    """
    if not test:
        return []
    # The kind and text of each thing that was answered, by QuestionIdentifier.
    given: dict[str, list[tuple[str, str]]] = {}
    for one in ElementTree.fromstring(answer).iterfind("{*}Answer") if answer else ():
        parts = [(node.tag.rpartition("}")[2], node.text or "") for node in one]
        name = one.findtext("{*}QuestionIdentifier") or ""
        given[name] = [part for part in parts if part[0] != "QuestionIdentifier" and part[1]]
    found = []
    for question in parse(test).questions:
        choices = {}
        for choice in getattr(question.answer, "choices", ()):
            shown = " ".join(part.text for part in choice.parts if part.kind in ("title", "text"))
            choices[choice.identifier] = shown or choice.identifier
        said = tuple(
            choices.get(text, text) if kind == "SelectionIdentifier" else text
            for kind, text in given.get(question.identifier, [])
        )
        found.append(AnsweredQuestion(question.name, question.parts, said))
    return found


# Programs know a group among the qualification types by this keyword.
KEYWORD = "group"
LONGEST_NAME, LONGEST_DESCRIPTION = 200, 2000


class GroupError(ValueError):
    """The group cannot be made; the message says what to change."""


def groups() -> QuerySet[WorkerGroup]:
    """Return the groups by name, each with `n_members`."""
    is_in = Q(qualification_type__grants__is_revoked=False)
    is_here = Q(qualification_type__grants__worker__is_active=True)
    return (
        WorkerGroup.objects.select_related("qualification_type")
        .filter(qualification_type__deleted_at=None)
        .annotate(n_members=Count("qualification_type__grants", filter=is_in & is_here))
        .order_by("qualification_type__name")
    )


def group_name(given: str) -> str:
    """Return a name as a group has it; raises GroupError when it is empty or too long."""
    name = " ".join(given.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise GroupError(f"Write a name of 1 to {LONGEST_NAME} characters.")
    return name


def make_group(name: str, description: str, now: datetime) -> WorkerGroup:
    """Return a new group; raises GroupError when the name is taken, empty or too long."""
    name, own = group_name(name), description.strip()[:LONGEST_DESCRIPTION]
    try:
        with atomic():
            account, _ = Requester.objects.get_or_create(
                name=HOST_ACCOUNT, defaults={"created_at": now}
            )
            row = QualificationType.objects.create(
                requester=account,
                name=name,
                keywords=KEYWORD,
                **(
                    own_message("description", own)
                    if own
                    else system_message("description", "members_of_group", name=name)
                ),
                # Nobody asks to be in a group; the host decides.
                is_active=False,
                created_at=now,
            )
            return WorkerGroup.objects.create(qualification_type=row, created_at=now)
    except IntegrityError:
        raise GroupError(f"There is a group {name} already. Choose another name.") from None


def add_members(
    row: QualificationType, workers: Iterable[Worker], now: datetime, value: int = 1
) -> int:
    """Give workers the qualification with this value and tell them; returns how many that changed.

    Expects a transaction. Locks the type's row.
    """
    # Of two that add somebody at once, one does.
    QualificationType.objects.select_for_update(no_key=True).get(pk=row.pk)
    n_changed = 0
    for worker in workers:
        if not row.grants.filter(worker=worker, is_revoked=False, integer_value=value).exists():
            grant(row, worker, value, now)
            # An invitation may promise a requester's own qualification.
            key = "added_to_group" if hasattr(row, "group") else "qualification_given"
            notify_of_qualification(row, worker, key, description_of(row), now)
            n_changed += 1
    return n_changed


def remove_member(row: QualificationType, worker: Worker, now: datetime) -> bool:
    """Take a worker out of a group and tell them; returns whether they were in it.

    Expects a transaction.
    """
    rows = row.grants.filter(worker=worker, is_revoked=False)
    if not rows.update(is_revoked=True, **system_message("reason", "taken_out_of_group")):
        return False
    why = system_message("text", "taken_out_of_group")
    notify_of_qualification(row, worker, "out_of_group", why, now)
    return True
