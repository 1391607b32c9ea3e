"""What Collector asks of a marketplace: HITs, assignments, qualifications, messages to workers."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from time import monotonic
from typing import TypeVar
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from django.conf import settings

from tasks.crowd.requester_api import MarketplaceError, Requirement, WireRow, call, pages

PROVIDER = "mturk"
EMBEDDED = "embedded"
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>{url}</ExternalURL>'
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)
# What the marketplace reads among the keywords of a qualification type.
LONGEST_ANNOTATION = 255
EARNED, UNLISTED = "earned", "unlisted"
PAST = datetime(2015, 1, 1, tzinfo=UTC)
Row = TypeVar("Row")
log = logging.getLogger(__name__)
# What was said of each row, by what was to be done with it, and when it was refused last. A round
# comes every few hours at least: what none has met for so long is settled otherwise.
_said: dict[tuple[object, str], tuple[str, float]] = {}
SAID_SECONDS = 24 * 3600.0


def one_by_one(rows: Iterable[Row], act: Callable[[Row], int]) -> int:
    """Return the sum of what `act` did for each row; one that is refused stops no other.

    What the marketplace refuses for good is logged, once by a process: each round meets it again.
    Raises MarketplaceError when it does not answer: then nobody behind would be heard either.
    """
    done = 0
    for row in rows:
        asked = getattr(act, "__code__", act), str(getattr(row, "pk", row))
        try:
            done += act(row)
        except MarketplaceError as error:
            if not error.permanent:
                raise
            # A row may name a person: the log does not. Some words tell the time.
            why, now = error.code or str(error), monotonic()
            before = _said.get(asked)
            if before is None or before[0] != why:
                log.warning("Put aside: %s", error)
                _forget_settled(now)
            _said[asked] = why, now
        else:
            _said.pop(asked, None)
    return done


def _forget_settled(now: float) -> None:
    """Forget what was said of rows that no round has met for long."""
    for asked, (_, at) in list(_said.items()):
        if now - at > SAID_SECONDS:
            _said.pop(asked, None)


def environment() -> str:
    """Return the name of the marketplace in use: part of every stored external id.

    The embedded one stays the same whatever port it is served on.
    """
    return EMBEDDED if settings.EMBEDDED else str(settings.MTURK_ENDPOINT_URL)


@dataclass(frozen=True)
class Hit:
    """A HIT that is up, and the HIT type that it has there."""

    hit_id: str
    type_id: str


@dataclass(frozen=True)
class Assignment:
    """What the marketplace lists of one submitted assignment."""

    hit_id: str
    assignment_id: str
    person: str
    status: str
    fields: dict[str, str]
    submitted_at: datetime
    auto_approval_at: datetime


def create_hit_type(
    *,
    title: str,
    description: str,
    keywords: str,
    reward: str,
    duration: timedelta,
    auto_approval: timedelta,
    requirements: list[dict[str, object]],
) -> str:
    """Return the id of the HIT type with these values; the same values give the same id."""
    reply = call(
        "create_hit_type",
        Title=title,
        Description=description,
        Keywords=keywords,
        Reward=reward,
        AssignmentDurationInSeconds=int(duration.total_seconds()),
        AutoApprovalDelayInSeconds=int(auto_approval.total_seconds()),
        QualificationRequirements=requirements,
    )
    return str(reply["HITTypeId"])


def create_hit(type_id: str, *, token: str, lifetime: timedelta, page: str) -> Hit:
    """Return a HIT with one place; for a day the same token makes no second HIT.

    page: path of what it is part of, on this site, for people who look at the HIT there.

    One that was made before, by a call whose reply was lost, may be of another type: work is
    looked for under the type it has.
    """
    url = escape(f"{settings.COLLECTOR_URL}/hit/")
    try:
        reply = call(
            "create_hit_with_hit_type",
            HITTypeId=type_id,
            MaxAssignments=1,
            LifetimeInSeconds=max(30, int(lifetime.total_seconds())),
            Question=QUESTION.format(url=url),
            RequesterAnnotation=f"{token} {settings.COLLECTOR_URL}{page}"[:LONGEST_ANNOTATION],
            UniqueRequestToken=token,
        )
    except MarketplaceError as error:
        if not error.code.lower().endswith("hitalreadyexists"):
            raise
        for (name, _), hit in _made():
            if name == token:
                return hit
        raise MarketplaceError(
            f"The marketplace says it has a HIT for {token} but lists none.", permanent=False
        ) from error
    return _hit(reply["HIT"])


def find_hits(tokens: Iterable[str]) -> dict[str, Hit]:
    """Return by token the HITs that were made with one of `tokens`, answered or not."""
    wanted = set(tokens)
    if not wanted:
        return {}
    return {name: hit for (name, _), hit in _made() if name in wanted}


def hits_of_collections() -> Iterator[tuple[str, Hit]]:
    """Yield every HIT of the account that is listed and was made for a collection, by its token.

    Other programs may use the account too.
    """
    for (name, page), hit in _made():
        if "/collections/" in page:
            yield name, hit


def _made() -> Iterator[tuple[tuple[str, str], Hit]]:
    """Yield every HIT of the account with the token it was made with, and its collection's page."""
    for hit in pages("list_hits", "HITs"):
        token, _, page = hit.get("RequesterAnnotation", "").partition(" ")
        yield (token, page), _hit(hit)


def is_known(hit_id: str) -> bool:
    """Return whether the marketplace has the HIT, or has had it."""
    try:
        call("get_hit", HITId=hit_id)
    except MarketplaceError as error:
        if not error.code.lower().endswith("hitdoesnotexist"):
            raise
        return False
    return True


def _hit(described: WireRow) -> Hit:
    return Hit(str(described["HITId"]), str(described["HITTypeId"]))


def expire_hit(hit_id: str) -> None:
    """Close a HIT to new workers; who is inside may finish."""
    call("update_expiration_for_hit", HITId=hit_id, ExpireAt=PAST)


def is_vacant(hit_id: str) -> bool:
    """Return whether nobody holds the HIT's one place at the moment."""
    return not call("get_hit", HITId=hit_id)["HIT"]["NumberOfAssignmentsPending"]


def requirements_of(hit_id: str) -> list[Requirement]:
    """Return the qualification requirements that a HIT was posted with."""
    return call("get_hit", HITId=hit_id)["HIT"].get("QualificationRequirements", [])


def submitted_assignments(type_id: str) -> Iterator[Assignment]:
    """Yield what was submitted to the reviewable HITs of a type and is not approved yet."""
    for hit in pages("list_reviewable_hits", "HITs", HITTypeId=type_id):
        yield from assignments_of(hit["HITId"])


def assignments_of(hit_id: str) -> Iterator[Assignment]:
    """Yield every submitted, approved or rejected assignment of a HIT."""
    for row in pages("list_assignments_for_hit", "Assignments", HITId=hit_id):
        yield Assignment(
            hit_id=hit_id,
            assignment_id=row["AssignmentId"],
            person=row["WorkerId"],
            status=row["AssignmentStatus"],
            fields=answer_fields(row.get("Answer", "")),
            submitted_at=row["SubmitTime"],
            auto_approval_at=row["AutoApprovalTime"],
        )


def answer_fields(xml: str) -> dict[str, str]:
    """Return the form fields in a QuestionFormAnswers document; {} for anything unreadable."""
    if "<!" in xml:
        return {}
    try:
        root = ElementTree.fromstring(xml)
    except (ElementTree.ParseError, ValueError):
        return {}
    name = {"ns": root.tag.partition("}")[0].removeprefix("{")}
    return {
        answer.findtext("ns:QuestionIdentifier", "", name): answer.findtext("ns:FreeText", "", name)
        for answer in root.findall("ns:Answer", name)
    }


def status_of(assignment_id: str) -> str:
    """Return "Submitted", "Approved" or "Rejected" for an assignment that was handed in."""
    found = call("get_assignment", AssignmentId=assignment_id)["Assignment"]
    return str(found["AssignmentStatus"])


def approve(assignment_id: str, *, override: bool = False) -> None:
    """Approve an assignment; one that is approved already counts as done.

    With `override` a rejected one too, which the marketplace allows for thirty days.
    """
    try:
        call("approve_assignment", AssignmentId=assignment_id, OverrideRejection=override)
    except MarketplaceError as error:
        if not error.permanent or status_of(assignment_id) != "Approved":
            raise


def reject(assignment_id: str, reason: str) -> bool:
    """Reject an assignment, now or before; returns False, and nothing is done, if it is approved.

    The worker reads the reason, at most 1,024 characters.
    """
    try:
        call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=reason)
    except MarketplaceError as error:
        # The call has no token: whether it was carried out before shows in the assignment alone.
        status = status_of(assignment_id) if error.permanent else ""
        if status not in ("Approved", "Rejected"):
            raise
        return status == "Rejected"
    return True


def finish_hit(hit_id: str) -> None:
    """Delete a HIT whose work is approved, so that it is not listed as reviewable again."""
    try:
        call("delete_hit", HITId=hit_id)
    except MarketplaceError as error:
        if not error.permanent:
            raise


def as_keyword(words: str) -> str:
    """Return words as a keyword may hold them: a comma would end it, and is as in an address."""
    return " ".join(words.split())[:200].replace("%", "%25").replace(",", "%2C")


def create_qualification(name: str, description: str, keywords: str = EARNED) -> str:
    """Return the id of the qualification type `name`, made now or before.

    Workers get it for what they hand in: the marketplace offers no "Ask for it".
    """
    try:
        reply = call(
            "create_qualification_type",
            Name=name,
            Description=description,
            Keywords=keywords,
            QualificationTypeStatus="Active",
        )
        return str(reply["QualificationType"]["QualificationTypeId"])
    except MarketplaceError as error:
        if not error.permanent:
            raise
        for found in pages(
            "list_qualification_types",
            "QualificationTypes",
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        ):
            if found["Name"] == name:
                return str(found["QualificationTypeId"])
        raise


def grant(qualification_id: str, person: str, *, value: int = 1, silently: bool = False) -> None:
    """Give a person the qualification with this value; twice is the same as once.

    They get a message, unless it is done silently.
    """
    call(
        "associate_qualification_with_worker",
        QualificationTypeId=qualification_id,
        WorkerId=person,
        IntegerValue=value,
        SendNotification=not silently,
    )


def revoke(qualification_id: str, person: str, reason: str) -> None:
    """Take the qualification away; a person who never had it is left as they are."""
    try:
        call(
            "disassociate_qualification_from_worker",
            QualificationTypeId=qualification_id,
            WorkerId=person,
            Reason=reason[:1024] or "Declined.",
        )
    except MarketplaceError as error:
        if not error.permanent:
            raise


def forbidden(qualification_id: str) -> dict[str, object]:
    """Return the requirement that a worker lacks the qualification; others do not see the HIT."""
    return {
        "QualificationTypeId": qualification_id,
        "Comparator": "DoesNotExist",
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }


def required(qualification_id: str) -> dict[str, object]:
    """Return the requirement that a worker holds the qualification; others still see the HIT."""
    return {
        "QualificationTypeId": qualification_id,
        "Comparator": "EqualTo",
        "IntegerValues": [1],
        "ActionsGuarded": "Accept",
    }


def send_message(person: str, *, subject: str, text: str) -> bool:
    """Send a letter of at most 200 and 4,096 characters; return whether it got there.

    None reaches a person whose work this account has never approved or rejected. Raises
    MarketplaceError.
    """
    reply = call(
        "notify_workers", Subject=subject[:200], MessageText=text[:4096], WorkerIds=[person]
    )
    return not reply["NotifyWorkersFailureStatuses"]


@dataclass(frozen=True)
class ListedBonus:
    """What the marketplace lists of one bonus, ours or not."""

    assignment_id: str
    person: str
    amount: Decimal
    reason: str
    sent_at: datetime

    def cents(self, minor_units: int) -> int:
        """Return the amount in the currency's smallest unit."""
        return int(self.amount.scaleb(minor_units))


def send_bonus(person: str, assignment_id: str, *, amount: str, reason: str, token: str) -> None:
    """Send a bonus for an assignment that was handed in; for a day, a token sends only one.

    amount: as the wire wants it, "0.45". Raises MarketplaceError.
    """
    try:
        call(
            "send_bonus",
            WorkerId=person,
            AssignmentId=assignment_id,
            BonusAmount=amount,
            Reason=reason,
            UniqueRequestToken=token,
        )
    except MarketplaceError as error:
        if not error.code.lower().endswith("duplicaterequest"):
            raise


def listed_bonuses(**of: str) -> Iterator[ListedBonus]:
    """Yield every bonus paid on a HIT (`HITId`) or for an assignment (`AssignmentId`)."""
    for row in pages("list_bonus_payments", "BonusPayments", **of):
        yield ListedBonus(
            assignment_id=row["AssignmentId"],
            person=row["WorkerId"],
            amount=Decimal(row["BonusAmount"]),
            reason=row.get("Reason", ""),
            sent_at=row["GrantTime"],
        )
