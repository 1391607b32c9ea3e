"""Imported people are reached by their MTurk ids, in every call that takes a worker's id."""

from typing import Any

import botocore.session
import pytest

from marketplace import clock
from marketplace.models import Message, WorkerProfile
from marketplace.people.account_merge import merge
from marketplace.people.erasure import erase
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
    merge(grace.worker, ada.worker, clock.now())
    rita.create_worker_block(WorkerId=OLD, Reason="r")
    [block] = rita.list_worker_blocks()["WorkerBlocks"]
    assert block["WorkerId"] == grace.worker.worker_id
    erase(grace.worker, clock.now())
    with refused("ParameterValidationError"):
        rita.create_worker_block(WorkerId=OLD, Reason="r")
