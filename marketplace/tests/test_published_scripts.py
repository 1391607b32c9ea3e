"""What published programs ask of the requester API, call by call, and what they do with replies."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from xml.dom import minidom
from xml.etree import ElementTree

import pytest
from botocore.exceptions import ClientError
from django.http import HttpResponse
from django.test import Client

from marketplace.models import Worker
from marketplace.people.requirements import LOCALE, N_APPROVED, PERCENT_APPROVED
from marketplace.questions.question import EXTERNAL, HTML
from marketplace.questions.question_form import SCHEMAS
from marketplace.tests.boto import HOST
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Frame, Visitor

# An HTML page as the service's samples begin one, its form posting to the site's own path.
PAGE = f"""<HTMLQuestion xmlns="{HTML}">
  <HTMLContent>
    <![CDATA[
      <!DOCTYPE html>
      <html>
        <head>
          <meta http-equiv='Content-Type' content='text/html; charset=UTF-8'/>
          <script type='text/javascript'
            src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script>
        </head>
        <body>
          <form name='mturk_form' method='post' id='mturk_form' action='/mturk/externalSubmit'>
            <input type='hidden' value='' name='assignmentId' id='assignmentId'/>
            <textarea name='note'></textarea><input type='submit' value='Hand in'/>
          </form>
          <script language='Javascript'>turkSetAssignmentID();</script>
        </body>
      </html>
    ]]>
  </HTMLContent>
  <FrameHeight>450</FrameHeight>
</HTMLQuestion>
"""
TEST = f"""<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">
  <Overview><Title>Harbours</Title><Text>A test.</Text></Overview>
  <Overview>
    <FormattedContent><![CDATA[ With <i>slanted</i> and <b>heavy</b> words. ]]></FormattedContent>
    <List><ListItem>one</ListItem><ListItem>two</ListItem></List>
  </Overview>
  <Question>
    <QuestionIdentifier>deep</QuestionIdentifier>
    <IsRequired>true</IsRequired>
    <QuestionContent><Text>Is the sea deep?</Text></QuestionContent>
    <AnswerSpecification>
      <SelectionAnswer>
        <StyleSuggestion>radiobutton</StyleSuggestion>
        <Selections>
          <Selection><SelectionIdentifier>yes</SelectionIdentifier><Text>yes</Text></Selection>
          <Selection><SelectionIdentifier>no</SelectionIdentifier><Text>no</Text></Selection>
        </Selections>
      </SelectionAnswer>
    </AnswerSpecification>
  </Question>
</QuestionForm>
"""
KEY = f"""<AnswerKey xmlns="{SCHEMAS}2005-10-01/AnswerKey.xsd">
  <Question>
    <QuestionIdentifier>deep</QuestionIdentifier>
    <AnswerOption>
      <SelectionIdentifier>yes</SelectionIdentifier>
      <AnswerScore>100</AnswerScore>
    </AnswerOption>
  </Question>
</AnswerKey>
"""


def external(url: str) -> str:
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL}"><ExternalURL>{url}</ExternalURL>'
        "<FrameHeight>600</FrameHeight></ExternalQuestion>"
    )


def at_the_old_path(frame: Frame, **fields: str) -> HttpResponse:
    """Post a page's form to the service's own path, as pages do that know no other."""
    named = {name: frame.query[name] for name in ("assignmentId", "hitId", "workerId")}
    return Client(headers={"Host": HOST}).post("/mturk/externalSubmit", named | fields)


def parsed(node: ElementTree.Element) -> Any:
    """Return XML as xmltodict does: a child that is there once is itself, several are a list."""
    if not len(node):
        return node.text
    found: dict[str, Any] = {}
    for child in node:
        found.setdefault(child.tag.rpartition("}")[2], []).append(parsed(child))
    return {name: rows[0] if len(rows) == 1 else rows for name, rows in found.items()}


def test_a_script_that_reads_task_answers(rita: Any, ada: Visitor, make_hit: Any) -> None:
    """The service's own tutorial: xmltodict, then the JSON of the only answer."""
    hit = make_hit(rita)
    packed = [{"comment": "Zoë", "kind": {"fresh": True, "stale": False}}]
    ada.submit(hit, taskAnswers=json.dumps(packed))
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    answer = parsed(ElementTree.fromstring(assignment["Answer"]))["Answer"]
    assert answer["QuestionIdentifier"] == "taskAnswers"
    assert json.loads(answer["FreeText"]) == packed


def amti_type(client: Any, name: str, **more: str) -> str:
    """Make a qualification type of amti's examples, and find it again by its name."""
    client.create_qualification_type(
        Name=name,
        Keywords="example, test, sandbox",
        Description="An example.",
        QualificationTypeStatus="Active",
        RetryDelayInSeconds=86400,
        TestDurationInSeconds=3600,
        **more,
    )
    listed = client.list_qualification_types(
        Query=name, MustBeRequestable=True, MustBeOwnedByCaller=True, MaxResults=100
    )["QualificationTypes"]
    [found] = [one["QualificationTypeId"] for one in listed if one["Name"] == name]
    return str(found)


def test_amti_s_examples_from_qualification_to_table(rita: Any, ada: Visitor) -> None:
    """create-qualificationtype, create-batch, review-batch, save-batch, extract, delete-batch."""
    tested = amti_type(rita, "Harbour test", Test=TEST, AnswerKey=KEY)
    given = amti_type(rita, "Without a test")
    rita.associate_qualification_with_worker(
        QualificationTypeId=given, WorkerId=ada.worker.worker_id, IntegerValue=1
    )
    path = f"/qualifications/{tested}/test/"
    ada.post(path, path, begin="1")
    ada.post(path, path, deep="yes")
    hits = batch_of_amti(rita, tested)
    frame = ada.accept(hits[0])
    html = Client(headers={"Host": HOST}).get(frame.url).content.decode()
    assert "action='/mturk/externalSubmit'" in html
    frame.submit(note="Zoë & <b>")
    at_the_old_path(ada.accept(hits[1]), note="two")
    assert [saved_by_amti(rita, hit["HITId"]) for hit in hits] == [
        [{"note": "Zoë & <b>"}],
        [{"hitId": hits[1]["HITId"], "workerId": ada.worker.worker_id, "note": "two"}],
    ]
    for hit in hits:
        rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=datetime(2015, 1, 1))
        rita.delete_hit(HITId=hit["HITId"])


def batch_of_amti(client: Any, tested: str) -> list[dict[str, Any]]:
    """Post a HIT of HTML and one of a page elsewhere, for who passed the test."""
    wanted = {
        "QualificationTypeId": tested,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [100],
        "RequiredToPreview": False,
    }
    kind = client.create_hit_type(
        AutoApprovalDelayInSeconds=300,
        AssignmentDurationInSeconds=600,
        Reward="0.25",
        Title="An HTML page",
        Keywords="HTMLQuestion, example",
        Description="An example.",
        QualificationRequirements=[wanted],
    )["HITTypeId"]
    page = f"\n{external('https://task.example/')}\n"
    return [
        client.create_hit_with_hit_type(
            HITTypeId=kind,
            Question=question,
            RequesterAnnotation=f"batch={uuid4()}",
            MaxAssignments=1,
            LifetimeInSeconds=3600,
        )["HIT"]
        for question in (PAGE, page)
    ]


def saved_by_amti(client: Any, hit_id: str) -> list[dict[str, str]]:
    """Approve what was handed in, write it down, and return the fields as `extract` reads them."""
    pages = client.get_paginator("list_assignments_for_hit")
    for page in pages.paginate(HITId=hit_id):
        for one in page["Assignments"]:
            assert one["AssignmentStatus"] == "Submitted"
            client.approve_assignment(AssignmentId=one["AssignmentId"], OverrideRejection=False)
    hit = json.loads(json.dumps(client.get_hit(HITId=hit_id), default=str))["HIT"]
    assert hit["HITStatus"] == "Reviewable"
    rows = []
    for page in pages.paginate(HITId=hit_id):
        for one in page["Assignments"]:
            assert one["AssignmentStatus"] == "Approved"
            assert one["ApprovalTime"] >= one["SubmitTime"] >= one["AcceptTime"]
            xml, row = minidom.parseString(one["Answer"]), {}
            for answer in xml.getElementsByTagName("Answer"):
                [name] = answer.getElementsByTagName("QuestionIdentifier")
                [text] = answer.getElementsByTagName("FreeText")
                row[name.firstChild.data] = text.firstChild.data
            rows.append(row)
    return rows


def test_psiturk_s_stroop(rita: Any, ada: Visitor) -> None:
    """Its HIT, the ad in the frame, the thanks page's form, then `hit list`, `worker` and bonus."""
    kind = rita.create_hit_type(
        Title="Stroop task",
        Description="Judge the color of a series of words.",
        Reward="1.00",
        AssignmentDurationInSeconds=7200,
        Keywords="Perception, Psychology",
        QualificationRequirements=[
            at_least(PERCENT_APPROVED, 95),
            at_least(N_APPROVED, 0),
            {
                "QualificationTypeId": LOCALE,
                "Comparator": "EqualTo",
                "LocaleValues": [{"Country": "US"}],
            },
        ],
    )["HITTypeId"]
    hit = rita.create_hit_with_hit_type(
        HITTypeId=kind,
        MaxAssignments=10,
        LifetimeInSeconds=86400,
        Question=external("https://stroop.example/pub?mode=sandbox"),
    )["HIT"]
    ada.post("/preferences/", "/preferences/", country="US")
    frame = ada.accept(hit)
    assert frame.url.startswith("https://stroop.example/pub?mode=sandbox&assignmentId=")
    assert at_the_old_path(frame).status_code == 200
    [listed] = rita.list_hits(MaxResults=100)["HITs"]
    names = ("MaxAssignments", "NumberOfAssignmentsAvailable", "NumberOfAssignmentsCompleted")
    assert [listed[name] for name in names] == [10, 9, 0]
    [work] = rita.list_assignments_for_hit(
        HITId=hit["HITId"], AssignmentStatuses=["Submitted", "Approved", "Rejected"]
    )["Assignments"]
    assert work["WorkerId"] == ada.worker.worker_id
    rita.approve_assignment(AssignmentId=work["AssignmentId"], OverrideRejection=False)
    rita.send_bonus(
        WorkerId=work["WorkerId"],
        BonusAmount="2.5",
        AssignmentId=work["AssignmentId"],
        Reason="Bonus for the Stroop task",
        UniqueRequestToken=work["AssignmentId"],
    )
    [bonus] = rita.list_bonus_payments(AssignmentId=work["AssignmentId"])["BonusPayments"]
    assert bonus["BonusAmount"] == "2.50"


def at_least(type_id: str, value: int) -> dict[str, Any]:
    return {
        "QualificationTypeId": type_id,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [value],
        "RequiredToPreview": True,
    }


def test_dallinger_s_recruiting(rita: Any, ada: Visitor) -> None:
    """Its group's qualification, its HIT, more places, the last page's form, scores, disposal."""
    fresh_ones = group_of_dallinger(rita, ada.worker.worker_id)
    countries = [
        {
            "QualificationTypeId": LOCALE,
            "Comparator": "EqualTo",
            "LocaleValues": [{"Country": "US"}, {"Country": "GB"}],
            "RequiredToPreview": True,
        }
    ]
    Worker.objects.update(country="GB")
    kind = rita.create_hit_type(
        Title="An experiment",
        Description="Take part.",
        Reward=str(1.5),
        AssignmentDurationInSeconds=3600,
        Keywords=",".join(["one", "two"]),
        AutoApprovalDelayInSeconds=0,
        QualificationRequirements=[at_least(PERCENT_APPROVED, 95), fresh_ones, *countries],
    )["HITTypeId"]
    hit = rita.create_hit_with_hit_type(
        HITTypeId=kind,
        Question=external("https://experiment.example/ad?recruiter=mturk"),
        LifetimeInSeconds=int(timedelta(days=1).total_seconds()),
        MaxAssignments=1,
        UniqueRequestToken=str(datetime.now(UTC).timestamp()),
        RequesterAnnotation="an-experiment",
    )["HIT"]
    frame = ada.accept(hit)
    rita.create_additional_assignments_for_hit(
        HITId=hit["HITId"], NumberOfAdditionalAssignments=1, UniqueRequestToken="more-1"
    )
    rita.update_expiration_for_hit(
        HITId=hit["HITId"], ExpireAt=hit["Expiration"] + timedelta(hours=2)
    )
    assert at_the_old_path(frame).status_code == 200
    which = {"AssignmentId": frame.query["assignmentId"]}
    assert rita.get_assignment(**which)["Assignment"]["AssignmentStatus"] == "Approved"
    with pytest.raises(ClientError, match="can be called with a status of: Submitted"):
        rita.approve_assignment(**which)
    rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    rita.delete_hit(HITId=hit["HITId"])
    with refused("AssignmentDoesNotExist", "does not exist"):
        rita.get_assignment(AssignmentId="3UNKNOWN")


def group_of_dallinger(client: Any, worker_id: str) -> dict[str, Any]:
    """Make the qualification of those who took part, score somebody, and ask for those without."""
    name = "the-experiment-group"
    made = client.create_qualification_type(
        Name=name, Description="Has taken part.", QualificationTypeStatus="Active"
    )["QualificationType"]
    with pytest.raises(ClientError, match="already created a QualificationType with this name"):
        client.create_qualification_type(
            Name=name, Description="x", QualificationTypeStatus="Active"
        )
    [found] = client.list_qualification_types(
        Query=name.upper(), MustBeRequestable=False, MustBeOwnedByCaller=True, MaxResults=100
    )["QualificationTypes"]
    assert found["QualificationTypeId"] == made["QualificationTypeId"]
    score = {"QualificationTypeId": made["QualificationTypeId"], "WorkerId": worker_id}
    with pytest.raises(ClientError, match="does not exist"):
        client.get_qualification_score(**score)
    client.associate_qualification_with_worker(**score, IntegerValue=1, SendNotification=False)
    assert client.get_qualification_score(**score)["Qualification"]["IntegerValue"] == 1
    client.disassociate_qualification_from_worker(**score, Reason="")
    with pytest.raises(ClientError, match="operation can be called with a status of: Granted"):
        client.get_qualification_score(**score)
    return {
        "QualificationTypeId": made["QualificationTypeId"],
        "Comparator": "DoesNotExist",
        "RequiredToPreview": True,
    }


def test_pymturkr_s_suite_as_far_as_it_needs_no_workers(rita: Any) -> None:
    """HIT types, HITs, their types changed, HITs extended, searched, disposed of."""
    values = {
        "AutoApprovalDelayInSeconds": 2592000,
        "AssignmentDurationInSeconds": 3600,
        "Title": "10 Question Survey",
        "Keywords": "",
        "Description": "Complete a 10-question survey",
    }
    first = rita.create_hit_type(Reward=".20", **values)["HITTypeId"]
    second = rita.create_hit_type(Reward=".45", **values | {"AutoApprovalDelayInSeconds": 1})
    hit = rita.create_hit(
        Reward=".20",
        Question=external("https://www.example.com"),
        MaxAssignments=1,
        LifetimeInSeconds=86400,
        RequesterAnnotation="my_annotation",
        QualificationRequirements=[at_least(N_APPROVED, 1)],
        **values,
    )["HIT"]
    assert hit["Reward"] == "0.20"
    assert framed_by_pymturkr(rita, hit["HITId"]) == [(N_APPROVED, True, "PreviewAndAccept")]
    rita.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=second["HITTypeId"])
    rita.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=first)
    assert framed_by_pymturkr(rita, hit["HITId"]) == []
    rita.create_additional_assignments_for_hit(
        HITId=hit["HITId"], NumberOfAdditionalAssignments=1, UniqueRequestToken="0.123"
    )
    rita.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt="10000")
    rita.delete_hit(HITId=hit["HITId"])


def test_pymturkr_s_suite_of_qualifications_and_letters(rita: Any) -> None:
    """Types made, changed, searched, deleted; workers whom nobody knows."""
    made = rita.create_qualification_type(
        Name="Qual0001",
        Description="This is a qualification",
        QualificationTypeStatus="Active",
        AutoGranted=True,
        AutoGrantedValue=1,
        RetryDelayInSeconds=30,
    )["QualificationType"]
    which = {"QualificationTypeId": made["QualificationTypeId"]}
    rita.update_qualification_type(
        Description="For everybody!", QualificationTypeStatus="Active", AutoGranted=True, **which
    )
    listed = rita.list_qualification_types(
        MustBeRequestable=False, MustBeOwnedByCaller=False, MaxResults=100
    )["QualificationTypes"]
    # A column of a data frame that is assigned nothing is dropped, and the next row does not fit.
    needed = {"QualificationTypeId", "CreationTime", "Name", "Description", "IsRequestable"}
    assert all(needed | {"QualificationTypeStatus", "AutoGranted"} <= set(one) for one in listed)
    # Of ids of MTurk's the service knew whose they were; here they wait for who comes by them.
    rita.associate_qualification_with_worker(WorkerId="A3NOBODY", IntegerValue=1, **which)
    rita.create_worker_block(WorkerId="A3NOBODY", Reason="Did not follow instructions")
    rita.delete_qualification_type(**which)

    told = rita.notify_workers(
        Subject="Thanks!", MessageText="Thanks for taking part!", WorkerIds=["A" * 64, "A3NOBODY"]
    )["NotifyWorkersFailureStatuses"]
    assert {one["NotifyWorkersFailureCode"] for one in told} == {"HardFailure"}


def framed_by_pymturkr(client: Any, hit_id: str) -> list[tuple[str, bool, str]]:
    """Return a HIT's requirements as `SearchHITs` reads them: each of its columns has to be."""
    [hit] = [one for one in client.list_hits(MaxResults=100)["HITs"] if one["HITId"] == hit_id]
    for name in ("HITGroupId", "HITReviewStatus", "Question", "AutoApprovalDelayInSeconds"):
        assert hit[name] is not None
    return [
        (one["QualificationTypeId"], one["RequiredToPreview"], one["ActionsGuarded"])
        for one in hit["QualificationRequirements"]
    ]
