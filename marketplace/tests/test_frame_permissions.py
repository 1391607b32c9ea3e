"""What a requester's tasks may use is said before a HIT is accepted, and granted after."""

import re
from typing import Any

from marketplace.models import AuditEntry, Requester
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.forms import TEST
from marketplace.tests.test_html_question import question
from marketplace.tests.visitor import Visitor

SAID = "The task may use the whole screen, your microphone. Your browser asks you before it uses"


def allowed(html: str) -> str:
    """Return the `allow` of the task's frame."""
    (frame,) = re.findall(r"<iframe[^>]*>", html)
    found = re.search(r' allow="([^"]*)"', frame)
    return found[1] if found else ""


def test_workers_read_what_a_task_may_use_and_its_frame_may_once_it_is_accepted(
    rita: Any, ada: Visitor, make_hit: Any, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    hit = make_hit(rita)
    desk = DeskVisitor("Rita", Requester.objects.get(name="Rita"))
    chosen = {"frame_permissions": ["microphone", "fullscreen"]}
    desk.post("/desk/account/", "/desk/account/", **chosen)
    assert Requester.objects.get(name="Rita").frame_permissions == "fullscreen microphone"
    assert "Your tasks may" in AuditEntry.objects.latest("pk").what
    for path in ("/hits/", f"/hits/{hit['HITId']}/"):
        assert SAID in ada.get(path).content.decode()
    # Whoever only looks has agreed to nothing.
    assert allowed(ada.get(f"/hits/{hit['HITId']}/").content.decode()) == ""
    frame = ada.accept(hit)
    assert allowed(frame.response.content.decode()) == "fullscreen; microphone"


def test_a_page_without_an_origin_is_allowed_by_its_frame(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    Requester.objects.filter(name="Rita").update(frame_permissions="camera autoplay")
    frame = ada.accept(make_hit(rita, Question=question()))
    assert allowed(frame.response.content.decode()) == "camera *; autoplay *"


def test_nothing_is_allowed_and_nothing_said_unless_the_requester_asks(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    assert "The task may use" not in ada.get("/hits/").content.decode()
    assert allowed(ada.accept(hit).response.content.decode()) == ""


def test_who_returns_a_task_that_stands_still_reads_what_it_may_not_use(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    """An experiment that may not use a microphone stays empty, and nobody else can say why."""
    page = ada.accept(make_hit(rita)).response.content.decode()
    assert "The task may not use the whole screen, your microphone, your camera. If it" in page
    Requester.objects.filter(name="Rita").update(frame_permissions="fullscreen microphone")
    page = ada.accept(make_hit(rita, Question=question())).response.content.decode()
    assert "The task may not use your camera. If it" in page
    Requester.objects.filter(name="Rita").update(frame_permissions="fullscreen microphone camera")
    assert "may not use" not in ada.accept(make_hit(rita)).response.content.decode()


def test_a_form_of_the_marketplace_s_own_waits_for_nothing(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    page = ada.accept(make_hit(rita, Question=TEST)).response.content.decode()
    assert "may not use" not in page
