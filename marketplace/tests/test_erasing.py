"""What is left of an account once it is erased: books without a name, and nothing to pay."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.apps import apps

from marketplace import clock
from marketplace.erasure import erase
from marketplace.hits.acceptance import RefusedError, accept, keep_rejection, raise_contest
from marketplace.models import Assignment, AssignmentState, Contest, PaymentReport, Worker
from marketplace.operations.workers import rewardable
from marketplace.payouts import make_list, owed_by_worker, report_payment
from marketplace.people.accounts import merge
from marketplace.tests.visitor import Visitor


def test_what_was_waived_is_on_no_list(rita: Any, ada: Visitor, make_hit: Any, later: Any) -> None:
    ada.submit(make_hit(rita))
    later(days=6)
    assert ada.get("/earnings/").status_code == 200
    report_payment(ada.worker, "My account is DE02 1203 0000 0000 2020 51.", clock.now())
    assert sum(owed_by_worker().values()) == 450
    erase(ada.worker, clock.now())
    assert owed_by_worker() == {}
    assert make_list("Ida", clock.now()) is None
    assert not PaymentReport.objects.exists()


def test_an_account_erased_while_it_is_merged_goes_on_naming_the_open_one(
    ada: Visitor, grace: Visitor
) -> None:
    read_before = ada.worker
    merge(grace.worker, read_before, clock.now())
    erase(read_before, clock.now())
    row = Worker.objects.get(pk=read_before.pk)
    assert (row.merged_into, row.display_name) == (grace.worker, "–")


def test_words_about_and_of_the_person_are_gone_and_what_was_handed_in_stays(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    ada.submit(make_hit(rita), answer="kept: a kingfisher")
    work = Assignment.objects.get()
    who = {"WorkerId": work.worker.worker_id, "AssignmentId": work.assignment_id}
    rita.send_bonus(**who, BonusAmount="0.50", Reason="planted: for Ada of Querncross")
    rita.reject_assignment(
        AssignmentId=work.assignment_id, RequesterFeedback="planted: Ada Smith copied it"
    )
    work.refresh_from_db()
    raise_contest(work, "planted: pay DE02 1203 0000 0000 2020 51, +49 30 1234", clock.now())
    keep_rejection(Contest.objects.get(), "planted: no, Ada", clock.now())
    rita.create_worker_block(WorkerId=who["WorkerId"], Reason="planted: her brother worked")
    made = rita.create_qualification_type(
        Name="W", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    rita.associate_qualification_with_worker(
        QualificationTypeId=made, WorkerId=who["WorkerId"], SendNotification=False
    )
    rita.disassociate_qualification_from_worker(
        QualificationTypeId=made, WorkerId=who["WorkerId"], Reason="planted: she lives in Bonn"
    )
    assert planted() == 9
    erase(ada.worker, clock.now())
    assert planted() == 0
    assert "a kingfisher" in Assignment.objects.get().answer
    [bonus] = rita.list_bonus_payments(AssignmentId=work.assignment_id)["BonusPayments"]
    assert (bonus["BonusAmount"], bonus["Reason"]) == ("0.50", "")


def planted() -> int:
    """Return how many fields of the marketplace's rows hold planted words."""
    models = apps.get_app_config("marketplace").get_models()
    rows = [row for model in models for row in model._default_manager.values()]
    return sum("planted" in str(value) for row in rows for value in row.values())


def test_a_bonus_to_who_has_erased_their_account_is_refused_and_costs_nothing(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    ada.submit(make_hit(rita))
    work = Assignment.objects.get()
    erase(ada.worker, clock.now())
    balance = rita.get_account_balance()["AvailableBalance"]
    with pytest.raises(ClientError, match="has erased their account"):
        rita.send_bonus(
            WorkerId=work.worker.worker_id,
            AssignmentId=work.assignment_id,
            BonusAmount="0.50",
            Reason="Well done.",
        )
    assert rita.get_account_balance()["AvailableBalance"] == balance
    assert not rewardable(Assignment.objects.all(), clock.now()).exists()


def test_what_a_second_account_still_holds_is_given_back_too(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    for visitor in (ada, grace):
        visitor.accept(hit)
    merge(grace.worker, ada.worker, clock.now())
    erase(grace.worker, clock.now())
    assert set(Assignment.objects.values_list("state", flat=True)) == {AssignmentState.RETURNED}


def test_a_tab_that_accepts_while_the_account_is_erased_finds_it_closed(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    hit, read_before = make_hit(rita), ada.worker
    erase(read_before, clock.now())
    with pytest.raises(RefusedError, match="account is closed"):
        accept(read_before, hit["HITId"], clock.now())
