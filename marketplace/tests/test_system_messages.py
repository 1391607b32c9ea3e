"""The marketplace's own sentences are kept by key; whoever writes the same words wrote them."""

import re
from typing import Any

import pytest
from django.utils import translation

from marketplace import clock
from marketplace.models import QualificationGrant, QualificationType, Worker
from marketplace.notifications.messages import SENTENCES, system_message, translated
from marketplace.people.grants import add_members, make_group, remove_member
from marketplace.tests.visitor import Visitor

TAKEN_OUT = "Taken out of the group by the host."


@pytest.fixture
def german(ada: Visitor) -> Visitor:
    """Ada, who chose German."""
    Worker.objects.update(language="de")
    return ada


def given(rita: Any, worker: Worker, **more: str) -> str:
    made = rita.create_qualification_type(
        Name="Careful", QualificationTypeStatus="Active", **{"Description": "d", **more}
    )
    type_id: str = made["QualificationType"]["QualificationTypeId"]
    rita.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    return type_id


def read_by(worker: Visitor) -> str:
    return str(worker.get("/qualifications/").content.decode())


@pytest.mark.parametrize("key", SENTENCES)
def test_a_sentence_is_kept_in_english_and_read_in_german(key: str) -> None:
    places = re.findall(r"%\((\w+)\)s", SENTENCES[key])
    values = system_message("text", key, **dict.fromkeys(places, "Ü 100 %"))
    assert translated(text=values["text"], message=values["text_message"]) == values["text"]
    with translation.override("de"):
        read = translated(values["text"], values["text_message"])
    assert read != values["text"]
    assert ("Ü 100 %" in read) == ("Ü 100 %" in values["text"])


def test_a_requester_who_writes_a_sentence_of_the_marketplace_s_is_read_as_written(
    rita: Any, german: Visitor
) -> None:
    type_id = given(rita, german.worker, Description="Members of a guild.")
    assert "Members of a guild." in read_by(german)
    rita.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId=german.worker.worker_id, Reason=TAKEN_OUT
    )
    assert TAKEN_OUT in read_by(german)


def test_who_comes_back_and_is_withdrawn_by_words_reads_those(german: Visitor) -> None:
    row = make_group("Spring", "", clock.now()).qualification_type
    add_members(row, [german.worker], clock.now())
    remove_member(row, german.worker, clock.now())
    assert TAKEN_OUT not in read_by(german)
    add_members(row, [german.worker], clock.now())
    found = QualificationGrant.objects.get()
    assert (found.reason, found.reason_message) == ("", None)


def test_a_changed_description_is_the_requester_s_own(rita: Any, german: Visitor) -> None:
    type_id = given(rita, german.worker)
    rows = QualificationType.objects.filter(qualification_type_id=type_id)
    rows.update(**system_message("description", "members_of_group", name="a guild"))
    rita.update_qualification_type(QualificationTypeId=type_id, Description="Mine")
    assert rows.get().description_message is None
    assert "Mine" in read_by(german)
