"""The service's own addresses, as clients print them, lead to the HIT here."""

from typing import Any

import pytest

from marketplace.models import Assignment
from marketplace.tests.visitor import Visitor

# What psiTurk, ParlAI, Mephisto, amti and the SDK's samples print; Dallinger names the HIT type.
OF_ONE_HIT = [
    "/mturk/preview?hitId={HITId}",
    "/projects/{HITGroupId}/tasks/{HITId}?assignment_id=3X",
]
OF_A_KIND = [
    "/mturk/preview?groupId={HITGroupId}",
    "/mturk/preview?groupId={HITTypeId}",
    "/mturk/previewandaccept?groupId={HITGroupId}&autoAcceptEnabled=true",
    "/projects/{HITGroupId}/tasks",
    "/projects/{HITTypeId}/tasks/?ref=w_pl_prvw",
    "/projects/{HITTypeId}/tasks/accept_random?ref=w_pl_prvw",
    "/mturk/searchbar?selectedSearchType=hitgroups&searchWords=mill+RITA&minReward=0.00",
    "/mturk/findhits?searchWords=mill",
]


@pytest.fixture
def hit(rita: Any, make_hit: Any) -> dict[str, Any]:
    """A HIT about a mill, beside one of another kind."""
    make_hit(rita, Title="Something else")
    made: dict[str, Any] = make_hit(rita, Title="Read about a mill")
    return made


@pytest.mark.parametrize("address", OF_ONE_HIT + OF_A_KIND)
def test_each_leads_to_the_preview_and_accepts_nothing(
    ada: Visitor, hit: dict[str, Any], address: str
) -> None:
    page = ada.get(address.format(**hit))
    assert page.status_code == 200
    assert f'action="/hits/{hit["HITId"]}/accept/"' in page.content.decode()
    is_one = page.request["PATH_INFO"] == f"/hits/{hit['HITId']}/"
    assert is_one == (address in OF_ONE_HIT)
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("address", [OF_ONE_HIT[0], OF_A_KIND[0], OF_A_KIND[-1]])
def test_whoever_is_not_signed_in_comes_back_to_it(hit: dict[str, Any], address: str) -> None:
    visitor = Visitor()
    door = visitor.get(address.format(**hit))
    wanted = door.context["next"]
    page = visitor.post("/", "/sign-in/", name="Ada", next=wanted)
    assert f'action="/hits/{hit["HITId"]}/accept/"' in page.content.decode()


@pytest.mark.parametrize(
    "address",
    [
        "/projects/",
        "/mturk/preview",
        "/mturk/preview?groupId=<b>",
        "/mturk/searchbar",
        "/mturk/searchbar?searchWords=nothing+like+it",
        "/mturk/searchbar?searchWords=rita",
    ],
)
def test_what_names_no_single_kind_leads_to_the_list(
    ada: Visitor, hit: dict[str, Any], address: str
) -> None:
    assert ada.get(address).request["PATH_INFO"] == "/hits/"


def test_a_kind_that_is_gone_says_so(ada: Visitor) -> None:
    page = ada.get("/mturk/preview?groupId=3GONE")
    assert page.status_code == 404
    assert b"no longer available" in page.content
