"""Review policies: work decided by known answers at once, by agreement when all is in."""

from typing import Any

import pytest

from marketplace.hits.review_rules import PolicyError, agreement, known_answers, read_policy
from marketplace.models import HIT, Requester, ReviewPolicy
from marketplace.tests.conftest import QUESTION
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


def policy(name: str, **parameters: Any) -> dict[str, Any]:
    given: list[dict[str, Any]] = []
    for key, value in parameters.items():
        if isinstance(value, dict):
            entries = [{"Key": name, "Values": values} for name, values in value.items()]
            given.append({"Key": key, "MapEntries": entries})
        else:
            values = value if isinstance(value, list) else [str(value)]
            given.append({"Key": key, "Values": values})
    return {"PolicyName": f"{name}/2011-09-01", "Parameters": given}


def known(**parameters: Any) -> dict[str, Any]:
    return policy("ScoreMyKnownAnswers", AnswerKey={"sky": ["blue"]}, **parameters)


def plurality(**parameters: Any) -> dict[str, Any]:
    return policy(
        "SimplePlurality",
        **{"QuestionIds": ["answer"], "QuestionAgreementThreshold": 49} | parameters,
    )


def told(report: dict[str, Any], part: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(one.get(name) for name in names) for one in report[part]]


@pytest.mark.pure
def test_the_documented_table_is_counted_so() -> None:
    answers = {
        "1": {"A": "coat", "B": "blue", "C": "large", "D": "Furry"},
        "2": {"A": "sweater", "B": "blue", "C": "large", "D": "fur"},
        "3": {"A": " coat ", "B": "green", "C": "large", "D": "furr"},
    }
    found = agreement("ABCD", 50, answers)
    assert found.agreed == {"A": "coat", "B": "blue", "C": "large"}
    assert found.levels == {"A": 66, "B": 66, "C": 100}
    assert found.worker_scores == {"1": 100, "2": 66, "3": 66}
    assert found.hit_score == 75
    # All is enough, whatever the threshold; half against half is no agreement.
    assert agreement("C", 100, answers).agreed == {"C": "large"}
    assert agreement("A", 0, {"1": {"A": "x"}, "2": {"A": "y"}}).agreed == {}
    long = {"A": "x" * 257}
    assert agreement("A", 0, {"1": long, "2": long}).agreed == {}
    assert known_answers({"q": ["a", "b"], "r": []}, {"q": "b|a"}) == ({"q": True, "r": True}, 100)
    right = {"q": False, "r": False}
    assert known_answers({"q": ["a"], "r": []}, {"q": "a|b", "r": "x"}) == (right, 0)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("level", "wrong"),
    [
        ("Assignment", plurality()),
        ("HIT", known()),
        ("Assignment", policy("ScoreMyKnownAnswers", RejectReason="x")),
        ("Assignment", known(RejectIfKnownAnswerScoreIsLessThan="many")),
        ("Assignment", known(ExtendMinimumTimeInSeconds=60)),
        ("Assignment", known(QuestionAgreementThreshold=1)),
        ("HIT", plurality(QuestionIds=[])),
        ("HIT", plurality(DisregardAssignmentIfRejected="perhaps")),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(level: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match=r".+\.$"):
        read_policy(level, wrong)


def test_known_answers_decide_and_ask_for_more(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    asked = known(
        ApproveIfKnownAnswerScoreIsAtLeast=100,
        RejectIfKnownAnswerScoreIsLessThan=50,
        RejectReason="The sky is blue.",
        ExtendIfKnownAnswerScoreIsLessThan=100,
    )
    with refused("InvalidParameterValue"):
        make_hit(rita, AssignmentReviewPolicy=plurality())
    hit = make_hit(rita, MaxAssignments=2, AssignmentReviewPolicy=asked)
    frame = ada.submit(hit, sky="green")
    assert "The sky is blue." in ada.get(frame.path).content.decode()
    grace.submit(hit, sky="blue")
    rows = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [row["AssignmentStatus"] for row in rows] == ["Rejected", "Approved"]
    now = rita.get_hit(HITId=hit["HITId"])["HIT"]
    assert (now["MaxAssignments"], now["NumberOfAssignmentsAvailable"]) == (3, 1)

    reply = rita.list_review_policy_results_for_hit(HITId=hit["HITId"], MaxResults=100)
    report = reply["AssignmentReviewReport"]
    assert reply["AssignmentReviewPolicy"]["PolicyName"] == asked["PolicyName"]
    assert "HITReviewPolicy" not in reply
    first, second = (row["AssignmentId"] for row in rows)
    assert told(report, "ReviewResults", "SubjectId", "QuestionId", "Key", "Value") == [
        (first, "sky", "KnownAnswerCorrect", "0"),
        (first, None, "KnownAnswerScore", "0"),
        (second, "sky", "KnownAnswerCorrect", "1"),
        (second, None, "KnownAnswerScore", "100"),
    ]
    assert told(report, "ReviewActions", "TargetId", "ActionName", "Status") == [
        (first, "review", "Succeeded"),
        (hit["HITId"], "extend", "Succeeded"),
        (first, "reject", "Succeeded"),
        (second, "review", "Succeeded"),
        (second, "approve", "Succeeded"),
    ]


def test_more_is_asked_as_far_as_the_money_goes(rita: Any, ada: Visitor, make_hit: Any) -> None:
    asked = known(ExtendIfKnownAnswerScoreIsLessThan=100, ApproveIfKnownAnswerScoreIsAtLeast=0)
    hit = make_hit(rita, AssignmentReviewPolicy=asked)
    Requester.objects.update(balance_cents=0)
    ada.submit(hit, sky="green")
    report = rita.list_review_policy_results_for_hit(HITId=hit["HITId"])["AssignmentReviewReport"]
    code = "AWS.MechanicalTurk.InsufficientFunds"
    assert told(report, "ReviewActions", "ActionName", "Status", "ErrorCode")[1:] == [
        ("extend", "Failed", code),
        ("approve", "Succeeded", None),
    ]
    assert rita.get_hit(HITId=hit["HITId"])["HIT"]["MaxAssignments"] == 1


def test_agreement_is_looked_at_when_all_is_in_and_again_when_more_came(
    rita: Any, other_requester: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    kind = make_hit(rita)["HITTypeId"]
    hit = rita.create_hit_with_hit_type(
        HITTypeId=kind,
        LifetimeInSeconds=3600,
        Question=QUESTION,
        MaxAssignments=2,
        HITReviewPolicy=plurality(
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
            RejectIfWorkerAgreementScoreIsLessThan=1,
            RejectReason="Most said otherwise.",
            ExtendIfHITAgreementScoreIsLessThan=100,
            ExtendMaximumAssignments=3,
            ExtendMinimumTimeInSeconds=3600,
        ),
    )["HIT"]
    ada.submit(hit, answer="owl")
    grace.submit(hit, answer="jay")
    reply = rita.list_review_policy_results_for_hit(HITId=hit["HITId"])
    assert told(reply["HITReviewReport"], "ReviewResults", "Key", "Value") == [
        ("HITAgreementScore", "0")
    ]
    assert told(reply["HITReviewReport"], "ReviewActions", "ActionName") == [("extend",)]
    Visitor("Joan").submit(hit, answer="owl")
    rows = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [row["AssignmentStatus"] for row in rows] == ["Approved", "Rejected", "Approved"]
    assert rows[1]["RequesterFeedback"] == "Most said otherwise."

    assert results_of(rita, hit) == [
        ("Assignment", "AgreedWithPlurality", "1"),
        ("Assignment", "WorkerAgreementScore", "100"),
        ("Assignment", "AgreedWithPlurality", "0"),
        ("Assignment", "WorkerAgreementScore", "0"),
        ("Assignment", "AgreedWithPlurality", "1"),
        ("Assignment", "WorkerAgreementScore", "100"),
        ("HIT", "PluralityAnswer", "owl"),
        ("HIT", "PluralityLevel", "66"),
        ("HIT", "HITAgreementScore", "100"),
    ]
    with refused("HITDoesNotExist"):
        other_requester.list_review_policy_results_for_hit(HITId=hit["HITId"])


def test_actions_are_on_the_first_page_however_many_results_there_are(
    rita: Any, make_hit: Any
) -> None:
    hit = make_hit(rita)
    row = HIT.objects.get(hit_id=hit["HITId"])
    action = {"ActionId": "1", "ActionName": "approve", "TargetId": "A", "TargetType": "Assignment"}
    ReviewPolicy.objects.create(
        hit=row,
        level="HIT",
        parameters={},
        results=[{"ActionId": str(number), "Key": "k", "Value": "v"} for number in range(25)],
        actions=[action | {"Status": "Succeeded", "CompleteTime": "2026-11-20T10:00:00+00:00"}],
    )
    page = rita.list_review_policy_results_for_hit(HITId=hit["HITId"], RetrieveActions=True)
    assert len(page["HITReviewReport"]["ReviewResults"]) == 10
    assert told(page["HITReviewReport"], "ReviewActions", "ActionName") == [("approve",)]
    more = {"HITId": hit["HITId"], "NextToken": page["NextToken"]}
    report = rita.list_review_policy_results_for_hit(**more)["HITReviewReport"]
    assert (len(report["ReviewResults"]), report["ReviewActions"]) == (10, [])


def results_of(rita: Any, hit: dict[str, Any]) -> list[tuple[Any, ...]]:
    seen: list[tuple[Any, ...]] = []
    token: dict[str, str] = {}
    while True:
        page = rita.list_review_policy_results_for_hit(
            HITId=hit["HITId"], MaxResults=3, PolicyLevels=["HIT"], RetrieveActions=False, **token
        )
        found = told(page["HITReviewReport"], "ReviewResults", "SubjectType", "Key", "Value")
        if not found:
            return seen
        assert len(found) <= 3
        seen += found
        token = {"NextToken": page["NextToken"]}
