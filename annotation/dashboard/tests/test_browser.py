"""The dashboard in a real Chromium: axe, all widths, keys, and the part that refreshes itself."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, sync_playwright

from annotation.dashboard.money.assignments import FILTERS
from annotation.dashboard.tests.making import (
    make_answer,
    make_attempt,
    make_decisions,
    make_full,
    make_lease,
    make_lines,
    make_question,
    make_refused_bonus,
    make_verdict,
)
from annotation.models import Override, Release
from annotation.splits.cross_validation import table_of
from annotation.splits.single_hop_review import draw_sample
from annotation.splits.tests.making import make_kept
from collector.candidates.tests.making import make_pairs, make_towns
from collector.models import CandidateSet, Collection
from collector.seeds.selection import select_seeds
from tasks.models import (
    EmptySubmission,
    Grant,
    GrantState,
    LeaseState,
    ProblemReport,
    Question,
    ReceiptState,
    Submission,
)
from tasks.tests.making import make_collection, make_corpus, stage_of
from tests import services
from tests.browser.axe_violations import SERIOUS, faults
from tests.browser.conftest import ARGUMENTS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
PILOT = "/collections/pilot/"
# What a hurried person or a screen reader would stumble over, and what merely could be better.
FAULTS = ("moderate", *SERIOUS)
SIZES = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Return one browser for all of these tests."""
    path = os.environ.get("COLLECTOR_CHROMIUM") or services.chromium()
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs a loop in this thread; the rows are still only used from here.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield (browser := playwright.chromium.launch(executable_path=path, args=ARGUMENTS))
        browser.close()


@pytest.fixture
def page(chromium: Browser, live_server: Any, settings: Any) -> Iterator[Page]:
    """Return a page of the dashboard."""
    settings.PASSWORDLESS_SIGN_IN = True
    context = chromium.new_context(
        base_url=f"http://localhost:{live_server.thread.port}",
        viewport={"width": 1366, "height": 768},
    )
    yield context.new_page()
    context.close()


def fill_desk() -> Collection:
    """Return a collection with something on every page, beside an empty one."""
    corpus = make_corpus()
    make_collection(corpus, slug="empty", seeds=1)
    collection = make_collection(corpus, slug="pilot", pay__approve_after_hours=48.0)
    make_full(collection, 2)
    make_decisions(collection)
    make_refused_bonus(collection, "This worker has no account any more.")
    question = stage_of(collection, "question")
    lease = make_lease(
        question,
        state=LeaseState.EXPIRED,
        closed_at=timezone.now(),
        draft={"data": {"questions": [{"text": "Which one?"}]}},
    )
    ProblemReport.objects.create(lease=lease, message="No text", at=timezone.now())
    fill_sets()
    judged = make_kept(8, slug="judged")
    draw_sample(judged, table_of(judged))
    Release.objects.create(
        collection=collection,
        number=1,
        folder="/nowhere",
        manifest={"train.json": {"sha256": "0" * 64, "bytes": 2}},
        counts={"questions": {"train": 2}},
        created_at=timezone.now(),
    )
    return collection


def fill_sets() -> None:
    """Make a collection whose seeds are pairs, with one set of each role kept."""
    with TemporaryDirectory() as folder:
        pairs = make_pairs(make_towns(Path(folder)), "pairs", keep_defaults=True)
    select_seeds(pairs, 4)


def addresses() -> list[str]:
    """Return a page of every kind, with rows and without."""
    key = Question.objects.filter(stage__name="question").values_list("key", flat=True)[0]
    parts = ["", "seeds/", "people/", "questions/", "money/", "problems/", "releases/", "report/"]
    parts += ["money/work/"]
    parts += ["qualification/question_qualification/", "qualification/answer_qualification/"]
    parts += ["texts/consent/", "texts/question/?edit=yes"]
    own = [f"questions/{key}/", "releases/1/", "problems/partners/"]
    own += [f"money/work/?show={name}" for name in FILTERS]
    handed_in = Submission.objects.exclude(state=ReceiptState.HELD)
    decided = [*handed_in.values_list("lease__session", flat=True)]
    decided += EmptySubmission.objects.values_list("session", flat=True)
    own += [f"money/work/{session}/" for session in decided]
    return [
        *("/", "/collections/", "/collections/new/", "/nowhere/", "/sign-in/", "/signed-out/"),
        *(f"/collections/empty/{part}" for part in parts),
        *(f"{PILOT}{part}" for part in [*parts, *own]),
        *(f"/collections/pairs/seeds/{part}" for part in ["", "sets/", "sets/?role=comparison"]),
        *(f"/collections/judged/{part}" for part in ("difficulty/", "difficulty/workers/wada/")),
        *(f"/collections/pairs/seeds/sets/{each.pk}/" for each in CandidateSet.objects.all()[:1]),
    ]


def test_every_page_is_clean_fits_has_one_primary_button_and_keeps_its_policy(page: Page) -> None:
    fill_desk()
    found, said = [], []
    page.on("console", lambda message: said.append(message.text))
    for address in addresses():
        page.goto(address)
        assert page.locator("main .button.primary").count() <= 1, address
        for width in (390, 768, 1366):
            page.set_viewport_size({"width": width, "height": 900})
            wide, seen = page.evaluate(SIZES)
            assert wide <= seen, f"{address} at {width}"
        found += faults(page, impacts=FAULTS)
    assert found == []
    assert [text for text in said if "Content Security Policy" in text] == []


def test_a_submission_is_granted_and_declined_by_key(page: Page) -> None:
    collection = make_collection(slug="pilot")
    stage = stage_of(collection, "question_qualification")
    make_attempt(stage)
    make_attempt(stage)
    page.goto(f"{PILOT}qualification/question_qualification/")
    page.keyboard.press("g")
    page.get_by_text("Worker 1 may now take the main task.").wait_for()
    page.keyboard.press("d")
    assert page.evaluate("document.activeElement.id") == "note", "declining needs a reason"
    page.keyboard.type("good dogs")
    page.keyboard.press("Tab")
    page.keyboard.press("d")
    page.get_by_text("Worker 2 is declined.").wait_for()
    states = list(Grant.objects.order_by("pk").values_list("state", "note"))
    assert states == [(GrantState.GRANTED, ""), (GrantState.DECLINED, "good dogs")]


def test_what_differs_is_decided_by_one_key_each(page: Page) -> None:
    collection = make_collection(slug="pilot")
    keys = []
    for words in ("Which one?", "Which other one?"):
        question = make_question(stage_of(collection, "question"), text=words)
        make_answer(question, stage_of(collection, "answer"))
        make_answer(question, stage_of(collection, "answer"), "binary", yes_no="no")
        make_verdict(question, "dropped")
        keys.append(question.key)
    page.goto(f"{PILOT}questions/{keys[0]}/?outcome=adjudication")
    for width in (390, 1366):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(f"{SIZES}[0] <= {SIZES}[1]"), width
    assert faults(page, impacts=FAULTS) == []
    page.locator("#reason").fill("b")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert not Override.objects.exists(), "Enter in the note decides nothing"
    page.keyboard.press("Tab")
    page.keyboard.press("b")
    page.get_by_text("Recorded: the question is in the dataset.").wait_for()
    page.get_by_role("heading", name="Which other one?").wait_for()
    page.keyboard.press("0")
    page.get_by_text("Recorded: the question is excluded.").wait_for()
    page.get_by_text("No question fits.").wait_for()
    logged = Override.objects.order_by("pk").values_list("new_outcome", "note", "new_chosen__type")
    assert list(logged) == [
        ("kept", "b", "binary"),
        ("dropped", "Adjudicated: the votes differed.", None),
    ]


def expect_clean(page: Page) -> None:
    """Expect a page that fits a phone and a desk and has nothing for axe to tell."""
    for width in (390, 1366):
        page.set_viewport_size({"width": width, "height": 900})
        wide, seen = page.evaluate(SIZES)
        assert wide <= seen, f"{page.url} at {width}"
    assert faults(page, impacts=FAULTS) == []


def test_labels_are_written_by_key_alone_and_tried_as_workers_see_them(
    page: Page, settings: Any
) -> None:
    make_lines(settings)
    page.goto("/collections/lines/labels/label/?from=blank")
    expect_clean(page)
    page.locator("#title").focus()
    for words in ("Tones", "Our pilot", "Which tone has it?", "Tone"):
        page.keyboard.type(words)
        page.keyboard.press("Tab")
    # A label, what it means, an example; group, key and what it wins over are left as they are.
    for label in ("glad", "proud", "calm", "sad", "glad", "wry"):
        for words in (label, f"It sounds {label}.", f"A {label} line", "", "", ""):
            page.keyboard.type(words)
            page.keyboard.press("Tab")
    page.locator("[id='f0.5.value']").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is saved yet, and nothing you typed is lost.").wait_for()
    expect_clean(page)
    page.get_by_role("link", name="Facet 1, label 5").press("Enter")
    page.keyboard.press("Tab")
    box = page.locator("[id='f0.4.value']")
    assert box.get_attribute("aria-invalid") == "true"
    box.fill("cross")
    page.get_by_role("button", name="Save and try it as a worker").press("Enter")
    page.get_by_text("A trial: nothing is kept").wait_for()
    expect_clean(page)
    for key in ("5", "n", "1", "n"):
        page.keyboard.press(key)
    page.get_by_text("2 of 3 labelled by you").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("A worker would hand this in now.").first.wait_for()
    assert asked == []
    page.get_by_role("link", name="Back to its labels").click()
    page.get_by_role("link", name="Try them as a worker").wait_for()
    expect_clean(page)


def test_the_collection_s_page_keeps_itself_up_to_date(page: Page) -> None:
    collection = make_collection(slug="pilot")
    page.goto(PILOT)
    page.get_by_text("What workers and you do is listed here.").wait_for()
    make_attempt(stage_of(collection, "question_qualification"))
    page.get_by_text("Worker 1 handed in: Question qualification.").wait_for(timeout=12_000)


def test_nothing_moves_under_the_hand_of_who_types_a_budget(page: Page) -> None:
    collection = make_collection(slug="pilot")
    page.goto(PILOT)
    page.locator("#budget-field").fill("1250")
    make_attempt(stage_of(collection, "question_qualification"))
    page.wait_for_timeout(6_000)
    assert page.locator("#budget-field").input_value() == "1250"
    page.get_by_role("button", name="Set").click()
    page.get_by_text("The budget is $1,250.00.").wait_for()
