"""Something of everything that the desk shows: work, payouts, groups, keys, a project."""

from typing import Any

from common.spreadsheet import Table
from marketplace import clock
from marketplace.desk.batches import make_batch
from marketplace.models import (
    AccessKey,
    Assignment,
    Contest,
    DeskUser,
    Event,
    InvitationDelivery,
    Message,
    PaymentReport,
    Project,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.notifications.events import post_event
from marketplace.payouts import make_list
from marketplace.people.accounts import open_worker
from marketplace.people.grants import make_group
from marketplace.people.invitations import invite, make_class_code
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.visitor import Visitor


def keys_of_work(rita: Any, ada: Visitor, make_hit: Any) -> dict[str, int]:
    """Return what is there once Ada has earned something and something was rejected."""
    now, ids = clock.now(), []
    for title in ("One", "Two"):
        hit = make_hit(rita, Title=title)
        ada.submit(hit)
        [row] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
        ids.append(row["AssignmentId"])
    rita.approve_assignment(AssignmentId=ids[0])
    rita.reject_assignment(AssignmentId=ids[1], RequesterFeedback="No.")
    rejected = Assignment.objects.get(assignment_id=ids[1])
    made = make_list("Ida", now)
    assert made is not None
    report = PaymentReport.objects.create(
        worker=ada.worker, text="t", owed_cents=1, reported_at=now
    )
    letter = Message.objects.create(
        worker=ada.worker,
        requester=rejected.hit.requester,
        is_from_worker=True,
        subject="s",
        text="t",
        sent_at=now,
    )
    contest = Contest.objects.create(assignment=rejected, text="t", raised_at=now, due_at=now)
    content = {"EventType": "Ping", "EventTimestamp": "2026-05-03T10:00:00Z"}
    post_event(rejected.hit.requester_id, NOTIFICATION, content, now)
    return {
        "desk-hit": rejected.hit_id,
        "desk-hit-bonuses": rejected.hit_id,
        "desk-settle-request": asked_for(rejected.hit.requester, ada.worker).pk,
        "desk-send-again": Event.objects.latest("pk").pk,
        "desk-payout-list": made.pk,
        "desk-payout-file": made.pk,
        "desk-payout-service": made.pk,
        "desk-confirm": made.pk,
        "desk-drop-line": made.lines.get().pk,
        "desk-answer-report": report.pk,
        "desk-reply": letter.pk,
        "desk-settle-contest": contest.pk,
    }


def asked_for(requester: Requester, worker: Worker, **more: str) -> QualificationRequest:
    """Return the request of a worker for a new qualification of the requester's."""
    kind = QualificationType.objects.create(
        requester=requester, name="Reader", description="Reads.", created_at=clock.now()
    )
    return QualificationRequest.objects.create(
        qualification_type=kind, worker=worker, submitted_at=clock.now(), **more
    )


def keys_of_host(member: Worker) -> dict[str, int]:
    """Return what the host keeps: a member of a group, a code, somebody else's invitation."""
    now, group = clock.now(), make_group("Panel", "", clock.now())
    [letter] = invite([open_worker("Edith", "", now)[0]], InvitationDelivery.LINKS, "Ida", now)
    names = ("worker", "close-worker", "merge", "join-group", "resend")
    return {
        "desk-group": group.pk,
        "desk-leave-group": group.pk,
        "desk-revoke-code": make_class_code("Class", 3, 3, "Ida", now).pk,
        "desk-revoke": letter.invitation.pk,
        **{f"desk-{name}": member.pk for name in names},
    }


def keys_of_desk(requester: Requester) -> dict[str, int]:
    """Return what a requester has: a key, a person, a project and a batch."""
    now = clock.now()
    project = Project.objects.create(requester=requester, created_at=now, **PROJECT)
    batch = make_batch(project, "Rows", Table(["y"], [(2, {"y": "1"})]), now)
    user = DeskUser.objects.get(name=DeskVisitor("Somebody", requester).name)
    names = ("batch", "row", "publish", "stop", "results", "decisions")
    names += ("approve-codes", "batch-bonuses")
    return {
        "desk-revoke-key": AccessKey.objects.get(requester=requester).pk,
        "desk-renew-password": user.pk,
        "desk-end-user": user.pk,
        "desk-project": project.pk,
        "desk-add-rows": project.pk,
        **{f"desk-{name}": batch.pk for name in names},
    }


NOTIFICATION = {"Transport": "SQS", "Destination": "https://l.example/", "Version": "2014-08-15"}
PROJECT = {
    "kind": "template",
    "name": "Mine",
    "title": "T",
    "description": "D",
    "reward_cents": 50,
    "assignment_duration_seconds": 60,
    "lifetime_seconds": 3600,
    "auto_approval_delay_seconds": 3600,
    "html": '<p>${x}</p><input name="a">',
}
