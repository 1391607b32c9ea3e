"""HITs and HIT types through the API."""

import itertools
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from marketplace import clock
from marketplace.configuration import choose
from marketplace.models import HIT
from marketplace.models.hits import status_at
from marketplace.people.requirements import ADULT, LOCALE
from marketplace.questions.template import question_xml
from marketplace.tests.conftest import QUESTION
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

DAY = 24 * 3600
OWN = QUESTION.replace("https://task.example", "http://127.0.0.1")
TYPE = {
    "Title": "t",
    "Description": "d",
    "Reward": "0.50",
    "AssignmentDurationInSeconds": 600,
}
SEGMENTATION = question_xml(
    "<!DOCTYPE html><script src='https://assets.crowd.aws/crowd-html-elements.js'></script>"
    "<crowd-form><crowd-semantic-segmentation name='a'></crowd-semantic-segmentation></crowd-form>"
)


def in_place(country: str, *part: str) -> dict[str, Any]:
    place = {"Country": country, **dict(zip(["Subdivision"], part, strict=False))}
    return {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [place]}


def test_a_reply_says_of_each_requirement_what_it_guards(rita: Any, make_hit: Any) -> None:
    adult = {"QualificationTypeId": ADULT, "Comparator": "EqualTo", "IntegerValues": [1]}
    sent = [
        adult,
        in_place("US", "CA") | {"RequiredToPreview": True},
        in_place("GB") | {"ActionsGuarded": "DiscoverPreviewAndAccept"},
    ]
    made = make_hit(rita, QualificationRequirements=sent)
    for hit in (made, rita.get_hit(HITId=made["HITId"])["HIT"], *rita.list_hits()["HITs"]):
        assert [
            (one["ActionsGuarded"], one["RequiredToPreview"])
            for one in hit["QualificationRequirements"]
        ] == [("Accept", False), ("PreviewAndAccept", True), ("DiscoverPreviewAndAccept", True)]
    again = make_hit(rita, QualificationRequirements=made["QualificationRequirements"])
    assert again["QualificationRequirements"] == made["QualificationRequirements"]


def test_the_same_values_are_the_same_type(rita: Any, other_requester: Any) -> None:
    first = rita.create_hit_type(**TYPE)["HITTypeId"]
    assert rita.create_hit_type(**TYPE | {"Reward": "0.5"})["HITTypeId"] == first
    assert rita.create_hit_type(**TYPE | {"Keywords": "k"})["HITTypeId"] != first
    assert other_requester.create_hit_type(**TYPE)["HITTypeId"] != first


def test_a_hit_of_a_type_has_its_values(rita: Any) -> None:
    kind = rita.create_hit_type(**TYPE | {"AutoApprovalDelayInSeconds": 3600})["HITTypeId"]
    hit = rita.create_hit_with_hit_type(
        HITTypeId=kind, LifetimeInSeconds=60, Question=QUESTION, MaxAssignments=3
    )["HIT"]
    assert (hit["HITTypeId"], hit["Reward"], hit["MaxAssignments"]) == (kind, "0.50", 3)
    assert hit["AutoApprovalDelayInSeconds"] == 3600
    assert hit["NumberOfAssignmentsAvailable"] == 3
    assert rita.get_hit(HITId=hit["HITId"])["HIT"] == hit


def test_the_host_caps_how_long_workers_wait(rita: Any, ada: Visitor, make_hit: Any) -> None:
    def told(hit: dict[str, Any]) -> int:
        [listed] = [one for one in rita.list_hits()["HITs"] if one["HITId"] == hit["HITId"]]
        read = rita.get_hit(HITId=hit["HITId"])["HIT"]
        [days] = {one["AutoApprovalDelayInSeconds"] / DAY for one in (listed, read)}
        return int(days)

    month = {"AutoApprovalDelayInSeconds": 30 * DAY}
    for sent in ({}, month):
        assert make_hit(rita, **sent)["AutoApprovalDelayInSeconds"] == 5 * DAY
    before = make_hit(rita, **month)
    choose("auto_approval_cap_seconds", 30 * DAY, clock.now())
    assert make_hit(rita, **month)["AutoApprovalDelayInSeconds"] == 30 * DAY
    assert told(before) == 5
    assert make_hit(rita, AutoApprovalDelayInSeconds=DAY)["AutoApprovalDelayInSeconds"] == DAY
    choose("auto_approval_cap_seconds", 2 * DAY, clock.now())
    assert told(before) == 2
    assert "Decided within 2 days" in ada.get(f"/hits/{before['HITId']}/").content.decode()
    frame = ada.submit(before)
    [work] = rita.list_assignments_for_hit(HITId=frame.query["hitId"])["Assignments"]
    assert work["AutoApprovalTime"] - work["SubmitTime"] == timedelta(days=2)


def test_a_token_makes_one_hit(rita: Any, make_hit: Any, later: Any) -> None:
    hit = make_hit(rita, UniqueRequestToken="once")
    with refused("HITAlreadyExists", hit["HITId"]):
        make_hit(rita, UniqueRequestToken="once")
    later(hours=25)
    assert make_hit(rita, UniqueRequestToken="once")["HITId"] != hit["HITId"]


def test_a_lost_reply_makes_no_second_hit(rita: Any, make_hit: Any) -> None:
    def lose(request: Any, **kwargs: Any) -> None:
        rita.meta.events.unregister("before-send.mturk", lose)
        from marketplace.tests.boto import _send_through_django

        _send_through_django(request)
        raise ReadTimeoutError(endpoint_url="here", error="lost")

    rita.meta.events.register_first("before-send.mturk", lose)
    with pytest.raises(ReadTimeoutError):
        make_hit(rita, UniqueRequestToken="lost")
    hit = HIT.objects.get()
    with refused("HITAlreadyExists", hit.hit_id):
        make_hit(rita, UniqueRequestToken="lost")
    assert HIT.objects.count() == 1


def test_a_token_of_a_hit_that_failed_can_be_used_again(rita: Any, make_hit: Any) -> None:
    with refused("InsufficientFunds"):
        make_hit(rita, Reward="9000", MaxAssignments=5, UniqueRequestToken="again")
    assert make_hit(rita, UniqueRequestToken="again")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Question": "<a>"}, "XMLParseError"),
        ({"Question": OWN}, "InvalidParameterValue"),
        (
            {"Question": QUESTION.replace("https://task.example", "http://127.0.0.1.")},
            "InvalidParameterValue",
        ),
        ({"LifetimeInSeconds": 29}, "InvalidParameterValue"),
        ({"LifetimeInSeconds": 366 * 86400}, "InvalidParameterValue"),
        ({"AssignmentDurationInSeconds": 29}, "InvalidParameterValue"),
        ({"AutoApprovalDelayInSeconds": 31 * 86400}, "InvalidParameterValue"),
        ({"MaxAssignments": 0}, "InvalidParameterValue"),
        ({"RequesterAnnotation": "x" * 256}, "InvalidParameterValue"),
        ({"Title": "x" * 129}, "InvalidParameterValue"),
        ({"Title": " "}, "InvalidParameterValue"),
        ({"HITLayoutParameters": [{"Name": "a", "Value": "b"}]}, "InvalidParameterValue"),
        ({"Question": SEGMENTATION}, "OperationNotSupported"),
        ({"QualificationRequirements": [in_place("XX")]}, "InvalidParameterValue"),
        ({"QualificationRequirements": [in_place("US", "ZZ")]}, "InvalidParameterValue"),
        ({"Reward": "1.999"}, "ParameterValidationError"),
        ({"Reward": "99999999"}, "InvalidParameterValue"),
    ],
)
def test_it_refuses_what_cannot_be_meant(
    rita: Any, make_hit: Any, changes: dict[str, Any], code: str
) -> None:
    with refused(code):
        make_hit(rita, **changes)
    assert not HIT.objects.exists()


def test_nobody_sees_another_requester_s_hit(
    rita: Any, other_requester: Any, make_hit: Any
) -> None:
    hit = make_hit(rita)
    with refused("HITDoesNotExist"):
        other_requester.get_hit(HITId=hit["HITId"])
    with refused("HITDoesNotExist"):
        other_requester.delete_hit(HITId=hit["HITId"])
    with refused("HITTypeDoesNotExist"):
        other_requester.create_hit_with_hit_type(
            HITTypeId=hit["HITTypeId"], LifetimeInSeconds=60, Question=QUESTION
        )
    assert other_requester.list_hits()["HITs"] == []


def test_pages_of_hits_stay_right_while_hits_arrive(rita: Any, make_hit: Any) -> None:
    made = [make_hit(rita, RequesterAnnotation=str(n))["HITId"] for n in range(5)]
    first = rita.list_hits(MaxResults=2)
    make_hit(rita)
    rest = rita.list_hits(MaxResults=10, NextToken=first["NextToken"])
    found = [hit["HITId"] for hit in first["HITs"] + rest["HITs"]]
    assert found == made[::-1]
    assert rest["NumResults"] == 3


def test_lists_can_be_read_until_a_page_is_empty(rita: Any, ada: Any, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    for read in (rita.list_hits, partial(rita.list_assignments_for_hit, HITId=hit["HITId"])):
        page, n_rows = read(MaxResults=10), 0
        while page["NumResults"] > 0:
            n_rows += page["NumResults"]
            page = read(MaxResults=10, NextToken=page["NextToken"])
        assert n_rows == 1
        assert "NextToken" not in page


def test_a_foreign_token_is_refused(rita: Any) -> None:
    for token in ("x", "W10=", "WzEsIDJd" * 30):
        with refused("InvalidParameterValue"):
            rita.list_hits(NextToken=token)


def test_the_type_of_an_open_hit_can_be_changed(rita: Any, make_hit: Any) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    dearer = rita.create_hit_type(**TYPE | {"Reward": "5.00"})["HITTypeId"]
    rita.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=dearer)
    assert rita.get_hit(HITId=hit["HITId"])["HIT"]["Reward"] == "5.00"
    assert rita.get_account_balance()["OnHoldBalance"] == "10.00"


def test_what_is_not_done_here_says_so(rita: Any) -> None:
    with refused("OperationNotSupported", "GetFileUploadURL"):
        rita.get_file_upload_url(AssignmentId="3A", QuestionIdentifier="q")


def test_a_token_is_good_for_its_own_list_alone(rita: Any, make_hit: Any) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(2)]
    token = rita.list_hits(MaxResults=1)["NextToken"]
    with refused("InvalidParameterValue", "NextToken"):
        rita.list_assignments_for_hit(HITId=hits[0]["HITId"], NextToken=token)
    assert rita.list_hits(NextToken=token)["NumResults"] == 1


def test_a_token_of_another_requester_s_list_is_refused(
    rita: Any, other_requester: Any, ada: Any, make_hit: Any
) -> None:
    theirs, mine = make_hit(other_requester), make_hit(rita)
    ada.submit(theirs)
    token = other_requester.list_assignments_for_hit(HITId=theirs["HITId"])["NextToken"]
    with refused("InvalidParameterValue", "NextToken"):
        rita.list_assignments_for_hit(HITId=mine["HITId"], NextToken=token)


def test_the_database_tells_a_status_as_the_model_does(rita: Any, make_hit: Any) -> None:
    make_hit(rita)
    row, now = HIT.objects.get(), clock.now()
    soon, past = now + timedelta(hours=1), now - timedelta(hours=1)
    parts: list[list[Any]] = [[None, past], [0, 1], [0, 1], [soon, past, now], [True, False]]
    for disposed_at, n_open, n_pending, expires_at, is_reviewing in itertools.product(*parts):
        row.disposed_at, row.expires_at, row.is_reviewing = disposed_at, expires_at, is_reviewing
        row.n_open, row.n_pending, row.max_assignments = n_open, n_pending, n_open + n_pending
        row.save()
        assert HIT.objects.values_list(status_at(now), flat=True).get() == row.status(now)
