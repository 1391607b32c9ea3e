"""A requester's site moves: the pages of its HITs are shown from the new address on."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from marketplace.models import HIT

OLD, NEW = "http://localhost:8000", "http://localhost:8001"
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>{url}</ExternalURL>'
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)


@pytest.fixture
def post(rita: Any, make_hit: Callable[..., dict[str, Any]]) -> Callable[[str], str]:
    """Return a function that makes a HIT whose page is at an address."""
    return lambda url: make_hit(rita, Question=QUESTION.format(url=url))["HITId"]


def move(*addresses: str) -> int:
    """Return how many HITs the command says it moved."""
    printed = StringIO()
    call_command("move_questions", *addresses, json=True, stdout=printed)
    moved: int = json.loads(printed.getvalue())["moved"]
    return moved


def test_the_frame_and_the_api_show_the_new_address(rita: Any, post: Callable[[str], str]) -> None:
    hit = post(f"{OLD}/hit/?kind=ask&amp;number=1")
    assert move(OLD, f"{NEW}/") == 1
    assert HIT.objects.get().external_url == f"{NEW}/hit/?kind=ask&number=1"
    question = rita.get_hit(HITId=hit)["HIT"]["Question"]
    assert question == QUESTION.format(url=f"{NEW}/hit/?kind=ask&amp;number=1")
    assert move(OLD, NEW) == 0


def test_the_link_in_its_annotation_moves_with_it(
    rita: Any, make_hit: Callable[..., dict[str, Any]]
) -> None:
    question = QUESTION.format(url=f"{OLD}/hit/")
    make_hit(rita, Question=question, RequesterAnnotation=f"unit-7 {OLD}/collections/pilot/")
    move(OLD, NEW)
    assert HIT.objects.get().annotation == f"unit-7 {NEW}/collections/pilot/"


def test_pages_at_other_addresses_stay(post: Callable[[str], str]) -> None:
    others = {"http://localhost:800/hit/", "https://localhost:8000/hit/", "http://lab.example/"}
    for url in others:
        post(url)
    assert move(OLD, NEW) == 0
    assert set(HIT.objects.values_list("external_url", flat=True)) == others


def test_it_prints_a_line_for_people(post: Callable[[str], str]) -> None:
    post(f"{OLD}/hit/")
    printed = StringIO()
    call_command("move_questions", OLD, NEW, stdout=printed)
    assert printed.getvalue() == f"1 HITs moved from {OLD} to {NEW}.\n"


@pytest.mark.parametrize("wrong", ["localhost:8000", "ftp://localhost", "http://"])
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with pytest.raises(CommandError, match="write an address such as"):
        move(wrong, NEW)


def test_one_requester_s_move_leaves_all_others_where_they_are(
    rita: Any,
    other_requester: Any,
    post: Callable[[str], str],
    make_hit: Callable[..., dict[str, Any]],
) -> None:
    post(f"{OLD}/hit/")
    make_hit(other_requester, Question=QUESTION.format(url=f"{OLD}/hit/"))
    call_command("move_questions", OLD, NEW, requester="Rita")
    moved = dict(HIT.objects.values_list("requester__name", "external_url"))
    assert moved == {"Rita": f"{NEW}/hit/", "Olive": f"{OLD}/hit/"}
