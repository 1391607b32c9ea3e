"""Imported people are reached by their MTurk ids in every call, and so called in every list."""

from typing import Any

import botocore.session
import pytest

from marketplace import clock
from marketplace.desk.people_views import matching
from marketplace.erasure import erase
from marketplace.models import HIT, Message, Requester, Worker, WorkerBlock, WorkerProfile
from marketplace.people.accounts import merge
from marketplace.people.requirements import access_to, record_of
from marketplace.people.worker_import import Outcome, import_workers
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

OLD = "A1OLD"


@pytest.fixture
def ada(ada: Visitor) -> Visitor:
    """Ada, whom the host imported with her old id."""
    WorkerProfile.objects.create(worker=ada.worker, mturk_id=OLD)
    return ada


def test_every_call_with_a_worker_takes_the_old_id(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit, own = make_hit(rita), ada.worker.worker_id
    ada.submit(hit)
    [work] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert work["WorkerId"] == own
    rita.approve_assignment(AssignmentId=work["AssignmentId"])
    made = rita.create_qualification_type(
        Name="Reader", Description="d", QualificationTypeStatus="Active"
    )
    kind = {"QualificationTypeId": made["QualificationType"]["QualificationTypeId"]}
    who = {"WorkerId": OLD}
    calls = {
        "CreateWorkerBlock": lambda: rita.create_worker_block(Reason="r", **who),
        "DeleteWorkerBlock": lambda: rita.delete_worker_block(**who),
        "AssociateQualificationWithWorker": lambda: rita.associate_qualification_with_worker(
            IntegerValue=7, **kind, **who
        ),
        "GetQualificationScore": lambda: rita.get_qualification_score(**kind, **who),
        "DisassociateQualificationFromWorker": lambda: rita.disassociate_qualification_from_worker(
            **kind, **who
        ),
        "SendBonus": lambda: rita.send_bonus(
            BonusAmount="1.00", Reason="r", AssignmentId=work["AssignmentId"], **who
        ),
        "NotifyWorkers": lambda: rita.notify_workers(
            Subject="s", MessageText="t", WorkerIds=[OLD, own]
        ),
    }
    model = botocore.session.get_session().get_service_model("mturk")
    asking = {
        name
        for name in model.operation_names
        if {"WorkerId", "WorkerIds"} & set(model.operation_model(name).input_shape.members)
    }
    assert set(calls) == asking
    replies = {name: call() for name, call in calls.items()}
    # They have worked for Rita, who knows them by the id that her lists had then.
    score = replies["GetQualificationScore"]["Qualification"]
    assert (score["WorkerId"], score["IntegerValue"]) == (own, 7)
    assert replies["NotifyWorkers"]["NotifyWorkersFailureStatuses"] == []
    assert Message.objects.filter(worker=ada.worker, subject="s").count() == 1


def test_an_id_given_out_here_comes_before_somebody_s_old_one(
    rita: Any, ada: Visitor, grace: Visitor
) -> None:
    WorkerProfile.objects.create(worker=grace.worker, mturk_id=ada.worker.worker_id)
    rita.create_worker_block(WorkerId=ada.worker.worker_id, Reason="r")
    [block] = rita.list_worker_blocks()["WorkerBlocks"]
    assert block["WorkerId"] == ada.worker.worker_id


def test_the_old_id_follows_the_person(rita: Any, ada: Visitor, grace: Visitor) -> None:
    own = grace.worker.worker_id
    merge(grace.worker, ada.worker, clock.now())
    rita.create_worker_block(WorkerId=OLD, Reason="r")
    [block] = rita.list_worker_blocks()["WorkerBlocks"]
    assert block["WorkerId"] == OLD
    erase(grace.worker, clock.now())
    [block] = rita.list_worker_blocks()["WorkerBlocks"]
    assert block["WorkerId"] == own
    with refused("ParameterValidationError"):
        rita.delete_worker_block(WorkerId=OLD)


def test_what_goes_in_by_an_old_id_comes_back_by_it(
    rita: Any, other_requester: Any, ada: Visitor, make_hit: Any, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    kind = reader_of(rita)
    rita.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=OLD)
    hit = make_hit(rita)
    frame = ada.accept(hit)
    assert frame.query["workerId"] == OLD
    assert frame.submit(answer="42").status_code == 200
    [work] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    which = {"AssignmentId": work["AssignmentId"]}
    rita.send_bonus(WorkerId=OLD, BonusAmount="1.00", Reason="r", **which)
    rita.create_worker_block(WorkerId=OLD, Reason="r")
    lists = [
        [work],
        [rita.get_assignment(**which)["Assignment"]],
        rita.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"],
        rita.list_worker_blocks()["WorkerBlocks"],
        rita.list_workers_with_qualification_type(QualificationTypeId=kind)["Qualifications"],
    ]
    assert [[row["WorkerId"] for row in rows] for rows in lists] == [[OLD]] * 5
    desk = DeskVisitor("Rolf", Requester.objects.get(name="Rita"))
    assert f"<code>{OLD}</code>" in desk.html("/desk/team/")
    hit = make_hit(other_requester)
    ada.submit(hit)
    [work] = other_requester.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert work["WorkerId"] == ada.worker.worker_id


def reader_of(client: Any) -> str:
    made = client.create_qualification_type(
        Name="Reader", Description="d", QualificationTypeStatus="Active"
    )
    return str(made["QualificationType"]["QualificationTypeId"])


def listed_before(client: Any) -> str:
    """Block somebody whom nobody knows, and give them a qualification; return its type."""
    kind = reader_of(client)
    client.create_worker_block(WorkerId="A2AWAITED", Reason="r")
    client.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId="A2AWAITED", IntegerValue=7
    )
    return kind


PERSON = "name,mail,mturk_id\nLin,lin@lab.example,A2AWAITED\n"


def test_an_unknown_id_waits_for_the_person_and_takes_hold_when_they_come(
    rita: Any, make_hit: Any
) -> None:
    kind = listed_before(rita)
    [block] = rita.list_worker_blocks()["WorkerBlocks"]
    assert block["WorkerId"] == "A2AWAITED"
    assert [row.display_name for row in matching("")] == []
    report = import_workers(PERSON, clock.now(), is_dry=False)
    assert report.summary == "1 new, 0 changed, 0 as they were, 0 left out"
    assert import_workers(PERSON, clock.now(), is_dry=False).count(Outcome.SAME) == 1
    [lin] = matching("")
    assert (lin.display_name, lin.is_active) == ("Lin", True)
    assert not access_to(
        HIT.objects.get(hit_id=make_hit(rita)["HITId"]).hit_type, record_of(lin)
    ).can_accept
    score = rita.get_qualification_score(QualificationTypeId=kind, WorkerId="A2AWAITED")
    assert score["Qualification"]["WorkerId"] == "A2AWAITED"
    rita.delete_worker_block(WorkerId="A2AWAITED")
    assert rita.list_worker_blocks()["WorkerBlocks"] == []


def test_nobody_learns_whom_other_requesters_wait_for(rita: Any, other_requester: Any) -> None:
    listed_before(rita)
    kind = reader_of(other_requester)
    for _ in range(2):
        with refused("ParameterValidationError"):
            other_requester.get_qualification_score(QualificationTypeId=kind, WorkerId="A2AWAITED")
    other_requester.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId="A2AWAITED"
    )
    score = other_requester.get_qualification_score(QualificationTypeId=kind, WorkerId="A2AWAITED")
    assert score["Qualification"]["WorkerId"] == "A2AWAITED"
    assert WorkerProfile.objects.filter(mturk_id="A2AWAITED").count() == 1


@pytest.mark.parametrize("way", ["imported", "written at the desk"])
def test_what_waited_becomes_the_account_s_whose_old_id_it_turns_out_to_be(
    rita: Any, ada: Visitor, settings: Any, way: str
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    kind = listed_before(rita)
    if way == "imported":
        told = f"worker_id,mturk_id\n{ada.worker.worker_id},A2AWAITED\n"
        assert import_workers(told, clock.now(), is_dry=False).count(Outcome.CHANGED) == 1
    else:
        path = f"/desk/workers/{ada.worker.pk}/"
        seen = {"name": "Ada", "mail": "", "prolific_id": "", "notes": ""}
        DeskVisitor("Ida").post(path, path, **seen, mturk_id="A2AWAITED")
    assert WorkerProfile.objects.get(mturk_id="A2AWAITED").worker == ada.worker
    [grant] = rita.list_workers_with_qualification_type(QualificationTypeId=kind)["Qualifications"]
    assert (grant["WorkerId"], grant["IntegerValue"]) == ("A2AWAITED", 7)
    assert [block.worker for block in WorkerBlock.objects.all()] == [ada.worker]
    assert len(matching("")) == 1


def test_what_earlier_rows_say_stays_when_a_place_is_taken(rita: Any, ada: Visitor) -> None:
    WorkerProfile.objects.update(mail="ada@x.example")
    listed_before(rita)
    rows = f",ada@x.example,Kind,\n{ada.worker.worker_id},,,A2AWAITED\n"
    told = f"worker_id,mail,notes,mturk_id\n{rows}"
    import_workers(told, clock.now(), is_dry=False)
    assert WorkerProfile.objects.get(mturk_id="A2AWAITED").notes == "Kind"


@pytest.mark.parametrize("way", ["merged", "imported", "written at the desk"])
def test_a_requester_reads_no_old_id_that_they_did_not_name(
    rita: Any, ada: Visitor, grace: Visitor, settings: Any, way: str
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    rita.create_worker_block(WorkerId=OLD, Reason="r")
    kept = ada.worker
    if way == "merged":
        kept = grace.worker
        WorkerProfile.objects.create(worker=kept, mturk_id="A9OTHER")
        merge(kept, ada.worker, clock.now())
    elif way == "imported":
        told = f"worker_id,mturk_id\n{kept.worker_id},A9OTHER\n"
        import_workers(told, clock.now(), is_dry=False)
    else:
        path = f"/desk/workers/{kept.pk}/"
        seen = {"name": "Ada", "mail": "", "prolific_id": "", "notes": ""}
        DeskVisitor("Ida").post(path, path, **seen, mturk_id="A9OTHER")
    assert WorkerProfile.objects.get(worker=kept).mturk_id == "A9OTHER"
    [block] = rita.list_worker_blocks()["WorkerBlocks"]
    assert block["WorkerId"] == kept.worker_id


def test_a_simulated_account_takes_nobody_s_place(rita: Any, ada: Visitor, settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    listed_before(rita)
    Worker.objects.filter(pk=ada.worker.pk).update(is_simulated=True)
    told = f"worker_id,mturk_id\n{ada.worker.worker_id},A2AWAITED\n"
    [line] = import_workers(told, clock.now(), is_dry=False).lines
    assert line.outcome == Outcome.PROBLEM
    path = f"/desk/workers/{ada.worker.pk}/"
    seen = {"name": "Ada", "mail": "", "prolific_id": "", "notes": ""}
    page = DeskVisitor("Ida").post(path, path, **seen, mturk_id="A2AWAITED")
    assert "Another worker has this mail address or id." in page.content.decode()
