"""The worker's site in a real Chromium: the frame on another site, keys alone, axe."""

# `page` is a fixture of another module.
# ruff: noqa: F401, F811

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from marketplace import clock
from marketplace.models import Assignment, AssignmentState, Requester, Worker
from marketplace.tests.browsing import EVERY_TEST, chromium, faults, faults_at, page, sign_in
from marketplace.tests.conftest import QUESTION
from marketplace.tests.forms import BOTH, SUM, WHY, form

pytestmark = EVERY_TEST


# A page that draws the bar itself: what it is told, and what its worker presses there.
OWN_BAR = """<p id="told"></p><script>
const say = (said) => parent.postMessage(said, "*");
onmessage = ({ data }) => {
  if (data.marketplace === "ready") say({ bar: "own" });
  else document.getElementById("told").textContent = JSON.stringify(data);
};
say({ bar: "own" });
</script>
<button onclick="say({ bar: 'next', on: true })">Next by itself</button>
<button onclick="say({ bar: 'list' })">All HITs</button>
<button onclick="location = '/window'">Another page</button>"""


class Task(BaseHTTPRequestHandler):
    """A requester's page: a form that goes where the query says, and a way to ask for return."""

    def do_GET(self) -> None:
        """Answer with the form, or with a preview of it."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        form = "<p>Preview</p>"
        if "turkSubmitTo" in query:
            form = (
                f'<form method="post" action="{query["turkSubmitTo"]}/mturk/externalSubmit">'
                f'<input type="hidden" name="assignmentId" value="{query["assignmentId"]}">'
                '<label>Question <input name="question"></label><button>Hand in</button></form>'
                '<button id="back">Give back</button><script>document.getElementById("back")'
                '.onclick=()=>parent.postMessage({collector:"return"},"*")</script>'
                '<button onclick="window.open(`/window`)">Open</button>'
                f"<p>{query.get('said', '')}</p>{_other_ends(query)}"
            )
        if self.path == "/window":
            form = (
                '<button onclick="opener.top.location=`/x`">Take over</button><button onclick="'
                'opener.location=opener.location+`&said=Done`;window.close()">Done</button>'
            )
        if urlsplit(self.path).path.endswith("/own") and "turkSubmitTo" in query:
            form = OWN_BAR
        page = f'<!doctype html><html lang="en"><title>Task</title><h1>Task</h1>{form}</html>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def _other_ends(query: dict[str, str]) -> str:
    """Return the ways in which published pages end, other than by the form above."""
    submit, assignment_id = f"{query['turkSubmitTo']}/mturk/externalSubmit", query["assignmentId"]
    fixed = urlsplit(submit)._replace(path="/mturk/externalSubmit").geturl()
    ids = "".join(
        f'<input type="hidden" name="{name}" value="{query[name]}">'
        for name in ("assignmentId", "hitId", "workerId")
    )
    address = f"{submit}?rt=512&amp;assignmentId={assignment_id}"
    return (
        f'<button onclick="location=`{address}`">By address</button>'
        f'<form method="post" action="{fixed}">{ids}<button>At the old path</button></form>'
    )


@pytest.fixture
def task() -> Iterator[str]:
    """The address of the requester's page, on `localhost`: another site than the marketplace's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Task)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def post_hits(client: Any, make_hit: Any, task: str, n_hits: int, **values: str) -> None:
    for n in range(n_hits):
        question = QUESTION.replace("https://task.example/hit", f"{task}/{n}")
        make_hit(client, Question=question, RequesterAnnotation=str(n), **values)


def test_a_task_may_use_what_its_requester_asked_for_and_no_more(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    Requester.objects.update(frame_permissions="fullscreen microphone")
    post_hits(rita, make_hit, task, 1)
    sign_in(page)
    page.get_by_text("The task may use the whole screen, your microphone.").wait_for()
    assert faults(page) == []
    page.get_by_role("button", name="Accept").first.click()
    page.frame_locator("#task").get_by_label("Question").wait_for()
    frame = page.frame(url=lambda url: url.startswith(task))
    asked = (
        "['fullscreen', 'microphone', 'camera'].map(x => document.featurePolicy.allowsFeature(x))"
    )
    assert frame.evaluate(asked) == [True, True, False]
    assert frame.evaluate("document.fullscreenEnabled")


def test_a_worker_s_whole_way_by_keyboard(rita: Any, make_hit: Any, task: str, page: Any) -> None:
    post_hits(rita, make_hit, task, 2)
    page.goto("/")
    assert faults(page) == []
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    page.wait_for_url("**/hits/")
    assert faults(page) == []
    page.get_by_role("button", name="Accept").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/*/")
    assert faults(page) == []
    frame = page.frame_locator("#task")
    frame.get_by_label("Question").focus()
    page.keyboard.type("Who dug the harbour? 🦉")
    page.keyboard.press("Enter")
    page.wait_for_url("**/submitted/")
    assert faults(page) == []
    assert "Submitted" in page.get_by_role("heading", level=1).inner_text()
    # The one primary button has the focus, so the next HIT is one key away.
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/*/")
    frame.get_by_label("Question").wait_for()
    states = list(Assignment.objects.order_by("pk").values_list("state", flat=True))
    assert states == [AssignmentState.SUBMITTED, AssignmentState.ACCEPTED]
    assert "&#129417;" in Assignment.objects.earliest("pk").answer


def test_a_page_may_hand_in_by_address_or_at_the_old_path(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    post_hits(rita, make_hit, task, 2)
    sign_in(page)
    for end in ("By address", "At the old path"):
        page.goto("/hits/")
        page.get_by_role("button", name="Accept").first.click()
        page.frame_locator("#task").get_by_role("button", name=end).click()
        # The page around the frame hears of it and goes on.
        page.wait_for_url("**/submitted/")
    first, second = Assignment.objects.order_by("pk")
    assert first.state == second.state == AssignmentState.SUBMITTED
    assert "<FreeText>512</FreeText>" in first.answer
    assert second.worker.worker_id in second.answer


def test_the_outer_page_never_scrolls(rita: Any, make_hit: Any, task: str, page: Any) -> None:
    post_hits(rita, make_hit, task, 1)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/work/*/")
    for width, height in ((1366, 768), (768, 1024)):
        page.set_viewport_size({"width": width, "height": height})
        # The task does not say that it draws the bar: it stays.
        assert page.locator(".bar").bounding_box()["height"] > 40
        sizes = page.evaluate(
            "[document.documentElement.scrollHeight, document.documentElement.scrollWidth,"
            " Math.round(document.getElementById('task').getBoundingClientRect().bottom)]"
        )
        assert sizes == [height, width, height]
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator(".bar").bounding_box()["height"] <= 80


def test_the_next_hit_comes_by_itself_when_wanted(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    post_hits(rita, make_hit, task, 2)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    with page.expect_response("**/preferences/"):
        page.get_by_label("Next one automatically").check()
    first = page.url
    frame = page.frame_locator("#task")
    frame.get_by_label("Question").fill("One")
    frame.get_by_role("button", name="Hand in").click()
    page.wait_for_function("first => location.href !== first", arg=first)
    assert "/work/" in page.url
    page.get_by_text("Submitted. $4.50 awaits approval.").wait_for()
    frame.get_by_label("Question").fill("Two")
    frame.get_by_role("button", name="Hand in").click()
    page.wait_for_url("**/submitted/")
    page.get_by_text("No more HITs like this one").wait_for()


def test_on_a_phone_the_time_of_a_hit_is_no_column_of_single_words(
    rita: Any, make_hit: Any, page: Any
) -> None:
    make_hit(rita, Keywords="once, expected-minutes:25")
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page)
    hint = page.locator(".facts .hint").filter(has_text="allotted")
    lines = "element => element.getBoundingClientRect().height / 20"
    assert hint.evaluate(lines) < 3.5
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("width", [390, 660])
def test_larger_letters_squeeze_no_fact_of_a_hit(
    rita: Any, make_hit: Any, page: Any, width: int
) -> None:
    make_hit(rita, Keywords="once, expected-minutes:25")
    page.set_viewport_size({"width": width, "height": 844})
    sign_in(page)
    Worker.objects.update(has_large_text=True)
    page.reload()
    names = page.locator(".facts dt")
    assert names.all_inner_texts() == ["Reward", "Estimated time", "Available"]
    for facts in page.locator(".facts, .facts > div").all():
        assert facts.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    hint = page.locator(".facts .hint").filter(has_text="allotted")
    assert hint.evaluate("(one) => one.getBoundingClientRect().height / 25") < 3.5
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_all_that_a_hit_pays_stands_in_its_column_and_in_its_bar(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    make_hit(
        rita,
        Question=QUESTION.replace("https://task.example", task),
        Keywords="expected-minutes:15, bonus-up-to:3.18, waiting-per-minute:0.15, "
        "waiting-minutes:15",
    )
    sign_in(page)
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto("/hits/")
        in_one = "(one) => one.scrollWidth <= one.clientWidth"
        assert page.locator(".reward").evaluate(in_one)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("link", name="Preview").first.click()
        assert page.locator(".bar").evaluate(in_one)
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_selector("iframe#task")
    assert "+ up to $3.18 in bonuses" in page.locator(".bar-pay").inner_text()
    assert page.locator(".bar").evaluate(in_one)


def test_the_list_stands_in_columns_and_in_its_cards_in_german_too(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    made = rita.create_qualification_type(
        Name="Reader", Description="Reads.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    need = {"QualificationTypeId": made, "Comparator": "Exists"}
    make_hit(rita, Question=QUESTION.replace("https://task.example", task))
    make_hit(rita, Title="For readers", QualificationRequirements=[need])
    sign_in(page)
    page.set_viewport_size({"width": 1366, "height": 768})
    page.get_by_role("button", name="Deutsch").click()
    rewards = page.locator(".list .reward")
    left = [box["x"] for box in (one.bounding_box() for one in rewards.all()) if box]
    assert len(left) == 2
    assert left[0] == left[1]
    for card in page.locator(".list .group").all():
        assert card.evaluate("(card) => card.scrollWidth <= card.clientWidth")
    button = page.locator(".list button", has_text="Annehmen")
    assert (
        button.evaluate(
            "(one) => one.closest('.list').getBoundingClientRect().right"
            " - one.getBoundingClientRect().right"
        )
        >= 16
    )


def test_what_is_done_once_has_no_next_one(rita: Any, make_hit: Any, task: str, page: Any) -> None:
    for path in ("hit", "own"):
        question = QUESTION.replace("https://task.example/hit", f"{task}/{path}")
        make_hit(rita, Question=question, Title=f"At {path}", Keywords="once")
    sign_in(page)
    page.get_by_role("button", name="Accept At own").click()
    frame = page.frame_locator("#task")
    frame.get_by_text('"next":""').wait_for()
    page.goto(page.url.split("/work/")[0] + "/hits/")
    page.get_by_role("button", name="Accept At hit").click()
    assert page.get_by_label("Next one automatically").count() == 0
    frame.get_by_label("Question").fill("One")
    frame.get_by_role("button", name="Hand in").click()
    page.wait_for_url("**/submitted/")
    assert faults(page) == []


def test_the_task_can_ask_to_be_returned(rita: Any, make_hit: Any, task: str, page: Any) -> None:
    post_hits(rita, make_hit, task, 1)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    page.frame_locator("#task").get_by_role("button", name="Give back").click()
    dialog = page.get_by_role("dialog", name="Return this HIT?")
    dialog.get_by_text("The task may not use").wait_for()
    dialog.get_by_role("link", name="Keep working").click()
    assert dialog.is_hidden()
    page.get_by_role("link", name="Return").click()
    assert faults(page) == []
    dialog.get_by_role("button", name="Return the HIT").click()
    page.get_by_role("status").get_by_text("You returned").wait_for()
    assert Assignment.objects.get().state == AssignmentState.RETURNED


def test_a_task_that_draws_the_bar_is_told_what_stands_in_it(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    question = QUESTION.replace("https://task.example/hit", f"{task}/own")
    make_hit(rita, Question=question)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    frame, bar = page.frame_locator("#task"), page.locator(".bar")
    frame.get_by_text("until").wait_for()
    told = json.loads(frame.locator("#told").inner_text())
    for name, words in (("title", "h1"), ("line", "#bar-line"), ("pay", ".bar-pay")):
        assert told[name] == bar.locator(words).inner_text().strip() != ""
    assert told["time"] == bar.locator("#countdown").inner_text()
    top = "document.getElementById('task').getBoundingClientRect().top"
    assert page.evaluate(top) == 0
    assert faults(page) == []
    # Tab alone still meets it, over the task, which does not move.
    page.locator(".bar-home").focus()
    assert bar.bounding_box()["height"] > 40
    assert page.evaluate(top) == 0
    # It knows this page, and waits for nothing that it may not use.
    assert page.locator(".may-not-use").evaluate("(it) => getComputedStyle(it).display") == "none"
    with page.expect_response("**/preferences/"):
        frame.get_by_role("button", name="Next by itself").click()
    assert page.get_by_label("Next one automatically").is_checked()
    frame.get_by_text('"isNext":true').wait_for()
    # A page that comes after it and knows nothing of the bar is not left without.
    frame.get_by_role("button", name="Another page").click()
    page.wait_for_function(f"() => {top} > 40")
    page.reload()
    frame.get_by_role("button", name="All HITs").click()
    page.wait_for_url("**/hits/")


def test_a_window_of_the_task_reaches_its_frame_and_not_the_page_around_it(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    post_hits(rita, make_hit, task, 1)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/work/*/")
    address, frame = page.url, page.frame_locator("#task")
    with page.expect_popup() as opened:
        frame.get_by_role("button", name="Open").click()
    opened.value.get_by_role("button", name="Take over").click()
    opened.value.get_by_role("button", name="Done").click()
    frame.get_by_text("Done").wait_for()
    assert page.url == address


def test_every_page_passes_axe(rita: Any, make_hit: Any, task: str, page: Any) -> None:
    post_hits(rita, make_hit, task, 2)
    rita.create_qualification_type(
        Name="Writer", Description="Practise first.", QualificationTypeStatus="Active"
    )
    page.goto("/")
    found = faults_at(page, light=1366, dark=390)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("#task")
    frame.get_by_label("Question").fill("One")
    frame.get_by_role("button", name="Hand in").click()
    page.wait_for_url("**/submitted/")
    one = Assignment.objects.get()
    rita.reject_assignment(AssignmentId=one.assignment_id, RequesterFeedback="Too short.")
    places = ("hits", "work", "history", "earnings", "qualifications", "messages", "preferences")
    places = (*places, "account", f"work/{one.pk}/submitted", f"work/{one.pk}/write")
    for path in places:
        page.goto(f"/{path}/")
        found += faults_at(page, light=1366, dark=390)
    assert found == []


def test_the_clock_is_quiet_until_ten_minutes_remain(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    post_hits(rita, make_hit, task, 1)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/work/*/")
    clock_face, line = page.locator("#countdown"), page.locator("#bar-line")
    assert re.fullmatch(r"until \d{1,2}:\d\d.*", clock_face.inner_text())
    rows = Assignment.objects.all()
    rows.update(deadline=clock.now() + timedelta(minutes=8))
    page.reload()
    page.get_by_text(re.compile(r"^7:\d\d left$")).wait_for()
    assert "still counts for an hour" in line.inner_text()
    rows.update(deadline=clock.now() + timedelta(seconds=3))
    page.reload()
    page.get_by_text("Time is up").wait_for()
    assert "You can still submit until" in line.inner_text()
    frame = page.frame_locator("#task")
    frame.get_by_label("Question").fill("Late")
    frame.get_by_role("button", name="Hand in").click()
    page.wait_for_url("**/submitted/")


def test_an_hour_after_midnight_stands_alone_and_keeps_the_bar_low(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    page.clock.set_fixed_time(datetime(2026, 11, 23, 23, 59))
    post_hits(rita, make_hit, task, 1)
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/work/*/")
    assert re.fullmatch(r"until 12:\d\d.AM", page.locator("#countdown").inner_text())
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator(".bar").bounding_box()["height"] <= 80
    Assignment.objects.update(deadline=clock.now() + timedelta(days=2))
    page.reload()
    assert "Nov 25, 2026" in page.locator("#countdown").inner_text()


def test_more_time_moves_the_one_deadline_wherever_it_stands(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    post_hits(rita, make_hit, task, 1, Keywords="extension-minutes:30")
    sign_in(page)
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("#task")
    frame.get_by_label("Question").wait_for()
    more = page.get_by_role("button", name="30 minutes more")
    page.locator("#extend-form").wait_for(state="hidden")
    Assignment.objects.update(deadline=clock.now() + timedelta(minutes=6))
    page.reload()
    more.wait_for()
    frame.get_by_label("Question").wait_for()
    frame.locator("body").evaluate(
        "() => addEventListener('message', ({data}) => { document.title = data.address; })"
    )
    more.click()
    more.wait_for(state="hidden")
    assert re.fullmatch(r"until \d{1,2}:\d\d.*", page.locator("#countdown").inner_text())
    one = Assignment.objects.get()
    assert timedelta(minutes=35) < one.deadline - clock.now() < timedelta(minutes=36)
    told = frame.locator("body").evaluate("() => document.title")
    assert f"entryExpires={int(one.deadline.timestamp()) + 3600}" in told
    page.goto("/work/")
    assert page.locator("#countdown").count() == 0
    shown = page.locator("main time").last
    assert shown.get_attribute("datetime") == one.deadline.isoformat()
    # One clock: what the pointer shows has the habit of what is written.
    assert ("M" in shown.inner_text()) == ("M" in str(shown.get_attribute("title")))


def test_a_task_that_needs_width_says_so_on_a_phone(
    rita: Any, make_hit: Any, task: str, page: Any
) -> None:
    make_hit(
        rita,
        Keywords="min-width:1024",
        Question=QUESTION.replace("https://task.example/hit", f"{task}/1"),
    )
    sign_in(page)
    note = page.get_by_text("at least 1024 pixels wide")
    note.wait_for()
    assert "This window has" not in note.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_text("This window has 390.").wait_for()
    page.get_by_role("button", name="Accept").click()
    page.get_by_text("Go on at a larger screen").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    width = page.evaluate("document.getElementById('task').getBoundingClientRect().width")
    assert width == 1024
    page.set_viewport_size({"width": 1366, "height": 768})
    page.get_by_text("Go on at a larger screen").wait_for(state="hidden")


def test_a_form_of_the_service_s_own_kind_is_worked_and_corrected_in_its_frame(
    rita: Any, make_hit: Any, page: Any
) -> None:
    hit = make_hit(rita, Question=form(SUM, WHY, BOTH))
    sign_in(page)
    page.goto(f"/hits/{hit['HITId']}/question/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    assert page.get_by_role("button", name="Submit").is_disabled()
    assert faults_at(page, light=1366, dark=390) == []
    page.goto(f"/hits/{hit['HITId']}/")
    page.get_by_role("button", name="Accept").first.click()
    page.wait_for_url("**/work/*/")
    frame = page.frame_locator("#task")
    frame.get_by_label("4", exact=True).check()
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("alert").wait_for()
    assert frame.get_by_label("4", exact=True).is_checked()
    for name in ("A", "C"):
        frame.get_by_label(name, exact=True).check()
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submitted/")
