"""What a crash can leave is found, mended by the functions of the sweeps, and found no more."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connections
from django.db.models import F
from django.utils import timezone

from annotation.models import Release, ReleaseOrder
from collector.models import Collection
from common import checkup
from common.checkup import Check, checks_named, examine
from marketplace import clock
from marketplace.hits.acceptance import accept, submit
from marketplace.models import HIT, Event, LedgerEntry, Requester
from marketplace.models import Worker as MarketWorker
from marketplace.people.accounts import keys_of, open_requester
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.conftest import QUESTION
from tasks.crowd import marketplace, requester_api
from tasks.dialog import pairing
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.models import (
    Dialog,
    Lease,
    LeaseState,
    Payment,
    Posting,
    Session,
    Submission,
    Ticket,
    Unit,
)
from tasks.tests.making import (
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])
OLD = timedelta(hours=9)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    """Look again at once, at files of the test's own, and at a marketplace that lists nothing."""
    monkeypatch.setattr(checkup.time, "sleep", lambda seconds: None)
    settings.RELEASES = tmp_path / "releases"
    settings.RELEASES.mkdir()
    monkeypatch.setattr(requester_api, "call", wire := Wire())
    monkeypatch.setattr(marketplace, "call", wire)
    monkeypatch.setattr(marketplace, "submitted_assignments", wire.submitted)
    monkeypatch.setattr(marketplace, "assignments_of", lambda hit_id: iter(()))


class Wire:
    """Answers as a marketplace that makes what it is asked to, approves, and lists one assignment.

    That is handed in on the HIT of whoever has a session and no work here.
    """

    def __init__(self) -> None:
        self.approved: set[object] = set()

    def __call__(self, operation: str, **given: object) -> dict[str, Any]:
        """Return what is read of the operation's reply."""
        name = given.get("AssignmentId")
        if operation == "approve_assignment":
            self.approved.add(name)
        status = "Approved" if name in self.approved else "Submitted"
        return {
            "HITTypeId": "T1",
            "HIT": {"HITId": uuid4().hex, "HITTypeId": "T1", "NumberOfAssignmentsPending": 0},
            "Assignment": {"AssignmentStatus": status},
            "QualificationType": {"QualificationTypeId": "Q1"},
            "NotifyWorkersFailureStatuses": [],
        }

    def submitted(self, type_id: str) -> Iterator[marketplace.Assignment]:
        """Yield what waits for a decision."""
        for session in Session.objects.filter(leases__isnull=True):
            yield marketplace.Assignment(
                hit_id=session.posting.external_id,
                assignment_id=session.session_id,
                person=session.person,
                status="Submitted",
                fields={"words": "lost"},
                submitted_at=timezone.now(),
                auto_approval_at=timezone.now() + OLD,
            )


def lease_of(person: str = "AADA") -> Lease:
    """Return a fresh hold on a unit of a new collection."""
    stage = stage_of(make_collection(seeds=8), "question")
    gate = stage_of(stage.collection, "question_qualification")
    worker = make_worker(person, qualified=(gate,))
    lease = leases.claim(make_session(worker, make_posting(stage)), stage, timezone.now())
    assert lease
    return lease


def work() -> Submission:
    """Return what was just handed in."""
    lease = lease_of()
    return submissions.hand_in(lease, questions_for(lease), timezone.now(), synthetic=False)


def examined(name: str, *, mend: bool = False) -> list[str]:
    """Return what one check finds, and what is left after mending where that is asked for."""
    [check] = [each for each in checks_named(django_settings.CHECKUPS) if each.name == name]
    found = examine([check], mend=mend)
    assert not any(each.why for each in found), found
    return [line for each in found for line in (each.left if mend else each.found)]


def overdue() -> None:
    Lease.objects.filter(pk=lease_of().pk).update(expires_at=timezone.now() - OLD)


def miscounted() -> None:
    Unit.objects.filter(pk=lease_of().unit_id).update(taken=0)


def wrong_books() -> None:
    Collection.objects.filter(pk=work().lease.unit.stage.collection_id).update(
        spent_cents=F("spent_cents") - 7, reserved_cents=F("reserved_cents") + 11
    )


def stale_ticket() -> None:
    ticket = make_waiting(stage_of(make_dialogs(), "dialog"), "AADA", now=timezone.now())
    Lease.objects.filter(pk=ticket.lease_id).update(state=LeaseState.EXPIRED)


def one_partner_gone() -> None:
    stage, now = stage_of(make_dialogs(), "dialog"), timezone.now()
    tickets = [make_waiting(stage, person, now=now) for person in ("AADA", "AGRACE")]
    pairing.sweep(stage, now, random.Random(1))
    assert Dialog.objects.count() == 1
    Ticket.objects.filter(pk=tickets[0].pk).update(state="done")


def dead_job() -> None:
    collection, before = make_collection(), timezone.now() - OLD
    ReleaseOrder.objects.create(
        collection=collection,
        by="rita",
        asked_at=before,
        state="running",
        claim="x",
        free_at=before,
    )


def due_for_long() -> None:
    make_collection()
    Collection.objects.update(look_at=timezone.now() - OLD)


def half_written() -> None:
    folder = django_settings.RELEASES / ".pilot.made-ab12cd34"
    folder.mkdir()
    (folder / "train.json").write_text("{")


def a_hit() -> tuple[Requester, HIT]:
    """Return a requester's HIT with a place that somebody has handed in and been paid for."""
    now = clock.now()
    requester = open_requester("Rita", "", 5_000, now)
    client = mturk_client(keys_of(requester, ENDPOINT, now))
    made = client.create_hit(
        Title="t",
        Description="d",
        Reward="0.50",
        AssignmentDurationInSeconds=600,
        LifetimeInSeconds=3600,
        Question=QUESTION,
    )["HIT"]
    worker = MarketWorker.objects.create(display_name="Ada", created_at=now)
    assignment = accept(worker, made["HITId"], clock.now())
    submit(assignment, "answer", clock.now())
    client.approve_assignment(AssignmentId=assignment.assignment_id)
    return requester, HIT.objects.get(hit_id=made["HITId"])


def hit_miscounted() -> None:
    _, hit = a_hit()
    HIT.objects.filter(pk=hit.pk).update(n_completed=0, n_open=1)


def entry_lost() -> None:
    a_hit()
    assert LedgerEntry.objects.filter(kind="reward").delete()[0] == 1


def account_changed() -> None:
    requester, _ = a_hit()
    Requester.objects.filter(pk=requester.pk).update(balance_cents=F("balance_cents") + 5)


def not_published() -> None:
    posting = make_posting(stage_of(make_collection(), "question"))
    Posting.objects.filter(pk=posting.pk).update(
        state="publishing",
        external_id="",
        external_type="",
        created_at=timezone.now() - OLD,
        expires_at=timezone.now() + OLD,
    )


def receipt_lost() -> None:
    lost = work()
    Submission.objects.filter(pk=lost.pk).update(received_at=timezone.now() - OLD)
    Lease.objects.filter(pk=lost.lease_id).update(expires_at=timezone.now() - OLD)


def approval_cut_off() -> None:
    work()
    Submission.objects.update(state="approving", confirmed_at=timezone.now() - OLD)


def paid_here_alone() -> None:
    work()
    Submission.objects.update(state="approved")
    Payment.objects.update(state="confirmed", confirmed_at=timezone.now())


def handed_in_there_alone() -> None:
    make_session(make_worker("AADA"), make_posting(stage_of(make_collection(), "question")))


# Nothing mends them; they have their tests in test_halves.py and test_backups.py.
NOT_MENDED = {"HITs here alone", "HITs on the marketplace alone", "backups"}
DAMAGE: dict[str, Callable[[], None]] = {
    "overdue leases": overdue,
    "units": miscounted,
    "books": wrong_books,
    "tickets": stale_ticket,
    "dialogs": one_partner_gone,
    "jobs": dead_job,
    "collections nobody looks at": due_for_long,
    "half-written files": half_written,
    "unpublished HITs": not_published,
    "unconfirmed work": receipt_lost,
    "half-done payments": approval_cut_off,
    "payments here alone": paid_here_alone,
    "work on the marketplace alone": handed_in_there_alone,
    "marketplace: HITs": hit_miscounted,
    "marketplace: ledger entries": entry_lost,
    "marketplace: accounts": account_changed,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_mended_and_found_no_more(name: str) -> None:
    assert examined(name) == []
    DAMAGE[name]()
    assert examined(name) != []
    assert examined(name, mend=True) == []
    assert examined(name) == []


def test_every_check_has_its_damage_here() -> None:
    names = [check.name for check in checks_named(django_settings.CHECKUPS)]
    assert set(names) == {*DAMAGE, *NOT_MENDED, "indexes", "releases without files"}


def test_a_release_whose_files_are_gone_is_named() -> None:
    release = Release.objects.create(
        collection=make_collection(), number=1, folder="releases/pilot", created_at=timezone.now()
    )
    [line] = examined("releases without files", mend=True)
    assert line.endswith("releases/pilot")
    release.place.mkdir()
    assert examined("releases without files") == []


@pytest.mark.django_db(databases=["default", "marketplace"], transaction=True)
@pytest.mark.parametrize(("alias", "model"), [("default", Lease), ("marketplace", Event)])
def test_an_index_that_is_missing_is_made_again(alias: str, model: Any) -> None:
    """Each side has a check of that name; neither hides what the other finds."""
    checks = [each for each in checks_named(django_settings.CHECKUPS) if each.name == "indexes"]
    assert len(checks) == 2
    index = model._meta.indexes[0]
    assert examine(checks) == []
    with connections[alias].schema_editor() as editor:
        editor.remove_index(model, index)
    [finding] = examine(checks)
    assert finding.found == [f"{model._meta.db_table}: {index.name}"]
    [finding] = examine(checks, mend=True)
    assert finding.left == []
    assert examine(checks) == []


def doctor(*arguments: str) -> tuple[str, object]:
    """Return what the command prints, and its exit code."""
    out = StringIO()
    try:
        call_command("doctor", *arguments, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


def test_the_command_says_what_is_wrong_what_it_mends_and_then_that_all_is_well() -> None:
    overdue()
    said, code = doctor()
    assert code == 1
    assert "overdue leases: A worker's time was over long ago" in said
    assert "--mend ends the lease, as jobs do" in said
    mended, code = doctor("--mend", "--json")
    assert code == 0, mended
    [row] = json.loads(mended)["findings"]
    assert row["check"] == "overdue leases"
    assert row["found"]
    assert row["left"] == []
    said, code = doctor()
    assert (code, said.startswith("Nothing is wrong, by ")) == (0, True)


def test_a_check_that_cannot_look_says_so_and_the_others_go_on(monkeypatch: Any) -> None:
    def fail(type_id: str) -> Any:
        raise requester_api.MarketplaceError("It does not answer.", permanent=False)

    overdue()
    monkeypatch.setattr(marketplace, "submitted_assignments", fail)
    said, code = doctor("--mend")
    assert code == 1
    assert "mended: lease" in said
    assert "work on the marketplace alone: Looked for: Somebody has handed in on the" in said
    assert "It could not be looked at: MarketplaceError: It does not answer." in said


@pytest.mark.parametrize("mend", [False, True])
def test_what_goes_away_between_two_looks_takes_no_other_check_along(mend: bool) -> None:
    def check(name: str, *answers: list[str] | Exception) -> Check:
        left = iter(answers)

        def find() -> list[str]:
            if isinstance(answer := next(left), Exception):
                raise answer
            return answer

        return Check(name, "It is broken.", "mends it", find, mend=lambda: None)

    gone = ConnectionError("It went away.")
    found = examine(
        [
            check("once", ["row 1"], gone),
            check("late", ["row 2"], ["row 2"], gone),
            check("sound", ["row 3"], ["row 3"], ["row 3"]),
        ],
        mend=mend,
        again_seconds=0,
    )
    assert [(one.check.name, one.found, one.left, one.why) for one in found] == [
        ("once", [], [], "It could not be looked at: ConnectionError: It went away."),
        (
            "late",
            ["row 2"],
            ["row 2"],
            "It could not be mended: ConnectionError: It went away." if mend else "",
        ),
        ("sound", ["row 3"], ["row 3"], ""),
    ]
