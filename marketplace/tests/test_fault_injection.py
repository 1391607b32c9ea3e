"""Injected faults, account by account: what goes wrong, and that it does so alike each time."""

import json
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.core.management import CommandError, call_command

from marketplace import clock
from marketplace.fault_injection import FaultInjectionError, _chances, change_faults, faults_of
from marketplace.models import HIT, Requester
from marketplace.people.accounts import RequesterKeys
from marketplace.tests.boto import mturk_client
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor
from marketplace.wire.calls import WireError, _buckets, count_call


def storm(**changes: Any) -> None:
    change_faults(Requester.objects.get(name="Rita"), changes)


def codes(client: Any, n_calls: int) -> list[str]:
    """Return what a client is told, call after call: an error's code, or nothing."""
    told = []
    for _ in range(n_calls):
        try:
            client.get_account_balance()
            told.append("")
        except ClientError as error:
            told.append(error.response["Error"]["Code"])
    return told


def test_a_lost_reply_is_work_done(rita: Any, rita_keys: RequesterKeys, make_hit: Any) -> None:
    storm(lost_replies=1)
    with pytest.raises(ClientError) as error:
        make_hit(rita, UniqueRequestToken="once")
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 504
    assert HIT.objects.count() == 1
    storm(lost_replies=0)
    with refused("HITAlreadyExists", HIT.objects.get().hit_id):
        make_hit(rita, UniqueRequestToken="once")


def test_a_client_that_tries_again_without_a_token_makes_two(
    rita_keys: RequesterKeys, make_hit: Any
) -> None:
    storm(lost_replies=0.5, seed=2)
    client = mturk_client(rita_keys, retries={"total_max_attempts": 8, "mode": "standard"})
    for _ in range(4):
        make_hit(client)
    assert HIT.objects.count() > 4


def test_the_same_seed_gives_the_same_faults(rita: Any, other_requester: Any) -> None:
    told = []
    for _ in range(2):
        _chances.clear()
        storm(throttling=0.4, seed=11)
        told.append(codes(rita, 20))
    assert told[0] == told[1]
    assert set(told[0]) == {"", "ThrottlingException"}
    assert set(codes(other_requester, 20)) == {""}


def test_a_new_hit_is_frozen_but_for_its_end(rita: Any, make_hit: Any, later: Any) -> None:
    other = make_hit(rita, Title="Other")["HITTypeId"]
    storm(frozen_seconds=5)
    one = {"HITId": make_hit(rita)["HITId"]}
    soon = clock.now() + timedelta(hours=2)
    for call in (
        lambda: rita.update_hit_type_of_hit(**one, HITTypeId=other),
        lambda: rita.create_additional_assignments_for_hit(**one, NumberOfAdditionalAssignments=1),
        lambda: rita.update_expiration_for_hit(**one, ExpireAt=soon),
    ):
        with refused("InvalidHITState", "a moment ago"):
            call()
    rita.update_expiration_for_hit(**one, ExpireAt=0)
    later(seconds=6)
    rita.update_expiration_for_hit(**one, ExpireAt=soon)


def test_the_index_of_qualifications_lags(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    storm(index_lag_seconds=60)
    made = rita.create_qualification_type(
        Name="W", Description="d", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    rita.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=ada.worker.worker_id
    )
    need = [{"QualificationTypeId": type_id, "Comparator": "DoesNotExist"}]
    hit = make_hit(rita, QualificationRequirements=need)
    search = {"MustBeRequestable": True, "Query": "W"}
    assert rita.list_qualification_types(**search)["NumResults"] == 0
    assert rita.get_qualification_type(QualificationTypeId=type_id)
    assert b"Accept and work" in ada.get(f"/hits/{hit['HITId']}/").content
    later(seconds=61)
    assert rita.list_qualification_types(**search)["NumResults"] == 1
    assert b"Accept and work" not in ada.get(f"/hits/{hit['HITId']}/").content


def test_assignment_ids_can_be_new_each_time(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    storm(reused_assignment_ids=False)
    hit = make_hit(rita)
    first = ada.accept(hit)
    ada.post(first.path, f"{first.path}return/")
    assert grace.accept(hit).query["assignmentId"] != first.query["assignmentId"]


def test_the_command_changes_what_is_named(rita_keys: RequesterKeys, capsys: Any) -> None:
    call_command("set_faults", "Rita", "--lost-replies", "0.1", "--frozen-seconds", "5")
    call_command("set_faults", "Rita", "--lost-replies", "0.2", "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["lost_replies"], told["frozen_seconds"]) == (0.2, 5)
    with pytest.raises(CommandError, match="share from 0 to 1"):
        call_command("set_faults", "Rita", "--throttling", "2")
    with pytest.raises(CommandError, match="no requester"):
        call_command("set_faults", "Nobody", "--none")
    call_command("set_faults", "Rita", "--none")
    assert "nothing goes wrong" in capsys.readouterr().out
    assert Requester.objects.get().faults == {}


def test_the_command_s_name_of_before_still_works(rita_keys: RequesterKeys, capsys: Any) -> None:
    call_command("set_weather", "Rita", "--throttling", "0.5")
    assert Requester.objects.get().faults == {"throttling": 0.5}
    assert "set_faults" in capsys.readouterr().err
    call_command("set_weather", "Rita", "--fair")
    assert Requester.objects.get().faults == {}


def test_faults_that_cannot_be_are_refused(rita_keys: RequesterKeys) -> None:
    for changes in ({"hail": 1}, {"lost_replies": "often"}, {"frozen_seconds": -1}):
        with pytest.raises(FaultInjectionError):
            storm(**changes)
    assert faults_of(Requester.objects.get()).lost_replies == 0


def test_an_account_may_call_so_often_and_no_more() -> None:
    _buckets.clear()
    for _ in range(20):
        count_call(1, 10, now=100.0)
    with pytest.raises(WireError, match="Rate exceeded"):
        count_call(1, 10, now=100.0)
    count_call(2, 10, now=100.0)
    count_call(1, 10, now=100.125)
    with pytest.raises(WireError):
        count_call(1, 10, now=100.125)
    count_call(1, 0, now=100.125)


def test_the_limit_is_the_host_s(rita: Any, settings: Any) -> None:
    _buckets.clear()
    settings.MARKETPLACE_CALLS_PER_SECOND = 0.01
    assert codes(rita, 2) == ["", "ThrottlingException"]
