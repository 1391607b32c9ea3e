"""Two processes on one database: what another one commits between two statements of a call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from marketplace import clock, funds
from marketplace.hits.acceptance import raise_contest
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    Assignment,
    BonusPayment,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    WorkerProfile,
)
from marketplace.people.accounts import merge
from marketplace.router import DATABASE
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.refusals import refused
from marketplace.tests.test_taking_tests import KEY, made
from marketplace.tests.visitor import Visitor


@contextmanager
def meanwhile(act: Callable[[], Any], after: str, times: int = 1) -> Iterator[None]:
    """Let another process act once, right after this many statements that have these words."""
    seen: list[str] = []

    def run(execute: Any, sql: str, values: Any, many: bool, context: Any) -> Any:
        result = execute(sql, values, many, context)
        if after in sql and len(seen) < times:
            seen.append(sql)
            if len(seen) == times:
                act()
        return result

    with connections[DATABASE].execute_wrapper(run):
        yield
    assert len(seen) == times, f"{len(seen)} statements have {after!r}"


def settle_all() -> None:
    settle_due(clock.now())


@pytest.mark.parametrize("name", ["list_hits", "list_reviewable_hits"])
def test_a_list_of_hits_is_not_empty_because_another_process_settles_what_is_due(
    rita: Any, make_hit: Any, later: Any, name: str
) -> None:
    hit = make_hit(rita)
    later(days=2)
    with meanwhile(settle_all, after="next_due_at"):
        found = getattr(rita, name)()
    assert [one["HITId"] for one in found["HITs"]] == [hit["HITId"]]


def test_the_balance_has_the_money_that_another_process_has_just_freed(
    rita: Any, make_hit: Any, later: Any
) -> None:
    make_hit(rita)
    later(days=2)
    with meanwhile(settle_all, after="marketplace_accesskey"):
        found = rita.get_account_balance()
    assert (found["AvailableBalance"], found["OnHoldBalance"]) == ("10000.00", "0.00")


READ_WORK = 'FROM "marketplace_assignment"'
READ_REQUEST = 'FROM "marketplace_qualificationrequest"'


def join_accounts(ada: Visitor, grace: Visitor) -> Callable[[], int]:
    """Return the act by which Ada's account turns out to be a second one of Grace's."""
    second, kept = ada.worker, grace.worker
    return lambda: merge(kept, second, clock.now())


@pytest.mark.parametrize("how", ["approve", "reject and override", "by the clock", "contest"])
def test_what_is_approved_while_two_accounts_become_one_is_owed_to_the_open_one(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, later: Any, how: str
) -> None:
    one = {"AssignmentId": ada.submit(make_hit(rita)).query["assignmentId"]}
    kept, joining = grace.worker, join_accounts(ada, grace)
    if how == "approve":
        with meanwhile(joining, after=READ_WORK, times=2):
            rita.approve_assignment(**one)
    elif how == "reject and override":
        rita.reject_assignment(**one, RequesterFeedback="No.")
        with meanwhile(joining, after=READ_WORK, times=2):
            rita.approve_assignment(**one, OverrideRejection=True)
    elif how == "by the clock":
        later(days=40)
        with meanwhile(joining, after='"auto_approval_at" <='):
            rita.get_account_balance()
    else:
        rita.reject_assignment(**one, RequesterFeedback="No.")
        raise_contest(Assignment.objects.get(), "It was good.", clock.now())
        later(days=8)
        with meanwhile(joining, after='"due_at" <='):
            rita.get_account_balance()
    assert funds.owed_cents(kept) == 450
    assert Assignment.objects.get().worker == kept


def test_a_bonus_sent_while_two_accounts_become_one_is_owed_to_the_open_one(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    one = {"AssignmentId": ada.submit(make_hit(rita)).query["assignmentId"]}
    one["WorkerId"], kept = ada.worker.worker_id, grace.worker
    with meanwhile(join_accounts(ada, grace), after=READ_WORK):
        rita.send_bonus(**one, BonusAmount="1.00", Reason="Good.")
    assert funds.owed_cents(kept) == 100
    assert BonusPayment.objects.get().worker == kept


def test_what_is_rejected_or_runs_out_while_two_accounts_become_one_is_the_open_one_s(
    rita: Any, ada: Visitor, grace: Visitor, mallory: Visitor, make_hit: Any, later: Any
) -> None:
    kept = grace.worker
    one = ada.submit(make_hit(rita)).query["assignmentId"]
    mallory.accept(make_hit(rita))
    with meanwhile(join_accounts(ada, grace), after=READ_WORK, times=2):
        rita.reject_assignment(AssignmentId=one, RequesterFeedback="No.")
    later(hours=2)
    with meanwhile(join_accounts(mallory, grace), after='"deadline" <='):
        rita.get_account_balance()
    states = Assignment.objects.order_by("pk").values_list("state", "worker")
    assert list(states) == [("rejected", kept.pk), ("abandoned", kept.pk)]


def test_a_qualification_deleted_while_it_is_changed_stays_deleted(rita: Any) -> None:
    made = rita.create_qualification_type(
        Name="Writer", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]
    one = {"QualificationTypeId": made["QualificationTypeId"]}
    delete = QualificationType.objects.filter(deleted_at=None).update
    with meanwhile(lambda: delete(deleted_at=clock.now()), after='"deleted_at" IS NULL'):
        rita.update_qualification_type(**one, Description="New words.")
    with refused("QualificationTypeDoesNotExist"):
        rita.get_qualification_type(**one)


def test_what_is_imported_while_the_host_writes_a_note_stays(ada: Visitor, settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    host, key = DeskVisitor("Ida"), ada.worker.pk
    profile = WorkerProfile.objects.create(worker=ada.worker)
    page, path = host.html(f"/desk/workers/{key}/"), f"/desk/workers/{key}/"
    bring_in = WorkerProfile.objects.filter(pk=profile.pk).update
    read = 'JOIN "marketplace_workerprofile"'
    with meanwhile(lambda: bring_in(n_approved_before=700), after=read, times=2):
        host.send(page, path, name="Ada", notes="Met at the fair.")
    profile.refresh_from_db()
    assert (profile.notes, profile.n_approved_before) == ("Met at the fair.", 700)


@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_qualification_decided_on_while_two_accounts_become_one_is_the_open_one_s(
    rita: Any, ada: Visitor, grace: Visitor, is_accepted: bool
) -> None:
    path, kept = ask_path(rita), grace.worker
    ada.send(path)
    one = {"QualificationRequestId": QualificationRequest.objects.get().request_id}
    decide = rita.accept_qualification_request if is_accepted else rita.reject_qualification_request
    with meanwhile(join_accounts(ada, grace), after=READ_REQUEST):
        decide(**one)
    row = QualificationRequest.objects.get()
    assert (row.state, row.worker) == ("granted" if is_accepted else "rejected", kept)
    assert [one.worker for one in QualificationGrant.objects.all()] == [kept] * is_accepted


def test_a_qualification_asked_for_while_two_accounts_become_one_is_asked_for_by_the_open_one(
    rita: Any, ada: Visitor, grace: Visitor
) -> None:
    path, kept = ask_path(rita), grace.worker
    with meanwhile(join_accounts(ada, grace), after='FROM "marketplace_qualificationtype"'):
        ada.send(path)
    assert QualificationRequest.objects.get().worker == kept


def ask_path(rita: Any) -> str:
    """Return where a qualification of Rita's is asked for."""
    made = rita.create_qualification_type(
        Name="Writer", Description="d", QualificationTypeStatus="Active"
    )
    return f"/qualifications/{made['QualificationType']['QualificationTypeId']}/ask/"


def test_a_test_handed_in_while_two_accounts_become_one_counts_for_the_open_one(
    rita: Any, ada: Visitor, grace: Visitor
) -> None:
    path, kept = made(rita, AnswerKey=KEY), grace.worker
    ada.post(path, path, begin="1")
    page = ada.get(path).content.decode()
    with meanwhile(join_accounts(ada, grace), after=READ_REQUEST, times=2):
        ada.send_from(page, path, depth="sea", why="It is the sea.")
    assert QualificationGrant.objects.get().worker == kept
