"""Two people talk in two frames of the marketplace, whatever befalls their browsers."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Frame, expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.dialog_page import Cable, Said, Talker, pair
from tests.browser.keyboard import Keyboard
from tests.browser.measures import measure
from tests.browser.person import Person
from tests.browser.task_bar import (
    PHONE,
    expect_nothing_covered,
    expect_one_bar,
    expect_room_to_read,
    expect_side_by_side,
)
from tests.serving import Instance

pytestmark = EVERY_TEST
SLUG = "talks"
TITLE = "Talk about a text that one of you sees"
ROWS = "tests.browser.dialog_rows"


@pytest.fixture(scope="module")
def talks(instance: Instance) -> Iterator[Instance]:
    """Return the instance with dialogs open that everybody may take."""
    # A reader speaks up at the least suspicion: nothing else may hang on that.
    instance.call(f"{ROWS}:open_talks", SLUG, TITLE, "checks.reader_confidence=0.01")
    yield instance
    instance.call("tests.browser.rows:put_away", SLUG)


def kept_of(instance: Instance, turns: list[Said]) -> dict[str, Any]:
    """Return the dialog whose first question was this, as the rows hold it."""
    kept = instance.call(f"{ROWS}:kept", SLUG)
    (dialog,) = (
        row
        for row in kept["dialogs"]
        if row["turns"] and row["turns"][0]["question"] == turns[0].question
    )
    return {**kept, "dialog": dialog}


def assert_kept(instance: Instance, turns: list[Said], ending: str) -> None:
    """Compare the rows with what was meant, turn for turn."""
    kept = kept_of(instance, turns)
    dialog = kept["dialog"]
    assert dialog["ending"] == ending
    assert dialog["turns"] == [
        {
            "question": said.question,
            "answer": said.answer,
            "answered": True,
            "continuation": said.continuation,
            "affirmation": said.affirmation,
        }
        for said in turns
    ]
    asked = [said.question for said in turns]
    answers = [row for row in kept["answers"] if row["question"] in asked]
    assert [(row["question"], [span["text"] for span in row["spans"]]) for row in answers] == [
        (said.question, [said.answer] if said.answer else []) for said in turns
    ]


def assert_clean(*people: Person) -> None:
    """Nobody met a mistake or a refusal, and no cookie travelled."""
    for person in people:
        assert person.mistakes == []
        assert person.refusals() == []
        assert person.cookies_of_the_frame() == []


def test_a_dialog_survives_a_reload_a_cut_and_a_tab_in_the_background(
    talks: Instance, enter: Enter
) -> None:
    ada, grace = enter("Ada who talks"), enter("Grace who talks", 1920, 1080)
    student, teacher = pair(ada, grace, TITLE)
    words = teacher.section
    said = [
        Said("Which year was it?", " ".join(teacher.over_paragraphs(5)), "neither", "follow_up"),
        Said("Was it hard, then?", " ".join(words[20:28]), "yes", "maybe"),
        Said("Did anybody help?", None, "neither", "dont"),
        Said("And who was glad of it?", " ".join(words[12:15]), "no", "maybe"),
    ]
    student.ask(said[0])
    teacher.wait_for_move("answer question 1")
    expect(student.frame.locator(".talk-question .talk-advice")).to_contain_text("question stands")
    expect(teacher.frame.locator(".talk-advice")).to_have_count(0)
    answer_over_paragraphs(teacher, said[0])
    reload_both(student, teacher, *said[:2])
    cut_the_teacher_off(student, teacher, said[2])
    ask_from_the_background(student, teacher, said[3])
    student.wait_for_move("ask question 5")
    finish(student, teacher)
    assert_kept(talks, said, "ended")
    kept = talks.call(f"{ROWS}:kept", SLUG)
    # Four answered questions, for each of the two: 21 + 22 + 23 + 24 cents.
    assert kept["turns_cents"] == [90, 90]
    assert_clean(ada, grace)


def answer_over_paragraphs(teacher: Talker, said: Said) -> None:
    """Mark too much, then the end of one paragraph and the beginning of the next."""
    teacher.person.drag("section", " ".join(teacher.section[3:45]))
    count, picked = (teacher.frame.locator(f"[data-{name}]") for name in ("count", "picked"))
    expect(count).to_have_text("42 words: mark 30 or fewer")
    expect(picked).to_be_hidden()
    teacher.person.click("[data-action=answer]")
    refusal = teacher.frame.locator("[data-form=answer] [data-said]")
    expect(refusal).to_contain_text("Mark the answer in the section")
    before, after = teacher.over_paragraphs(5)
    teacher.person.drag("section", before, until=after)
    expect(teacher.frame.locator("[data-picked-words]")).to_have_text(said.answer or "")
    expect(count).to_have_text("10 of 30")
    teacher.act(said)
    teacher.person.click("[data-action=answer]")


def reload_both(student: Talker, teacher: Talker, answered: Said, said: Said) -> None:
    """Reload one with the question half written, the other with the answer half chosen."""
    student.wait_for_move("ask question 2")
    for talker in (student, teacher):
        expect_one_bar(talker.person)
        expect_room_to_read(talker.person)
        expect_side_by_side(talker.person, ".reading", ".talk")
    expect(student.frame.locator("[data-log]")).to_contain_text(answered.answer or "")
    student.write(said.question)
    student.person.page.reload()
    student.wait_for("talking")
    expect(student.frame.locator("[data-question]")).to_have_value(said.question)
    student.frame.focus("[data-question]")
    student.person.key("Enter")
    teacher.wait_for_move("answer question 2")
    teacher.person.drag("section", said.answer or "")
    # Long enough for what is marked to be kept by itself: what is chosen then is kept as well.
    teacher.person.page.wait_for_timeout(1_000)
    teacher.act(said)
    teacher.person.page.reload()
    teacher.wait_for("talking")
    expect(teacher.frame.locator("[data-picked-words]")).to_have_text(said.answer or "")
    teacher.person.click("[data-action=answer]")


def cut_the_teacher_off(student: Talker, teacher: Talker, said: Said) -> None:
    """Answer while the network is gone for some seconds."""
    student.wait_for_move("ask question 3")
    student.ask(said)
    teacher.wait_for_move("answer question 3")
    teacher.person.context.set_offline(True)
    expect(teacher.frame.locator("[data-line]")).to_contain_text("Connection lost")
    # These words are longer than those for which the bar has its place: they cover nothing.
    assert teacher.frame.eval_on_selector(
        "[data-line]", "one => one.scrollWidth <= one.clientWidth"
    )
    partner = teacher.frame.locator("[data-partner]")
    expect(partner).to_contain_text("Your own connection is lost")
    expect(partner).to_have_class(re.compile("is-away"))
    teacher.answer(said)
    teacher.person.page.wait_for_timeout(4_000)
    teacher.person.context.set_offline(False)


def ask_from_the_background(student: Talker, teacher: Talker, said: Said) -> None:
    """Let the browser put the page to sleep, longer than a lost connection would live."""
    expect(student.person.page).to_have_title(f"● Your turn · {TITLE} · Marketplace")
    student.wait_for_move("ask question 4")
    browser = student.person.context.new_cdp_session(student.person.page)
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    partner = teacher.frame.locator("[data-partner]")
    teacher.person.page.wait_for_timeout(25_000)
    expect(partner).to_contain_text("is connected")
    browser.send("Page.setWebLifecycleState", {"state": "active"})
    expect(student.frame.locator("[data-line]")).to_have_text("Connected")
    student.ask(said)
    teacher.wait_for_move("answer question 4")
    teacher.answer(said)


def finish(student: Talker, teacher: Talker) -> None:
    """End the dialog as the student; both submit and get their receipt."""
    student.person.click("[data-action=end]")
    student.person.click("[data-action=confirm-end]")
    for talker in (student, teacher):
        talker.wait_for("done")
        expect(talker.frame.locator("[data-bill]")).to_contain_text("answered question")
        talker.person.click("[data-action=submit]")
        talker.person.expect_receipt()


def test_what_is_pressed_while_the_line_is_cut_is_done_in_its_order_when_it_is_back(
    talks: Instance, enter: Enter
) -> None:
    ada, grace = enter("Ada of the cut"), enter("Grace of the cut")
    cables = {person: Cable(person) for person in (ada, grace)}
    student, teacher = pair(ada, grace, TITLE)
    words = teacher.section
    said = [
        Said("Who would cut such a line?", " ".join(words[12:15]), "no", "maybe"),
        Said("And who mended it?", " ".join(words[20:24]), "yes", "dont"),
    ]
    student.ask(said[0])
    teacher.wait_for_move("answer question 1")
    teacher.answer(said[0])
    student.wait_for_move("ask question 2")
    write_while_cut_off_and_reload(student, cables[student.person], said[1])
    cables[student.person].cut()
    expect(student.frame.locator("[data-line]")).to_contain_text("Connection lost")
    student.frame.focus("[data-question]")
    student.person.key("Enter")
    press_and_see_it_wait(student, "end")
    # Whoever thinks better of it takes it back.
    student.frame.click("[data-dialog=end] [data-action=close]")
    cables[student.person].join()
    teacher.wait_for_move("answer question 2")
    student.wait_for_move("looking for the answer")
    cables[teacher.person].cut()
    expect(teacher.frame.locator("[data-line]")).to_contain_text("Connection lost")
    teacher.answer(said[1])
    teacher.frame.click("[data-scene=talking] [data-action=complain]")
    teacher.frame.check("[value=rude]")
    teacher.frame.click("[data-action=confirm-complaint]")
    box = teacher.frame.locator("[data-dialog=complain]")
    expect(box.locator("[data-box-said]")).to_contain_text("Not sent yet")
    teacher.person.page.wait_for_timeout(1_500)
    expect(box).to_be_visible()
    cables[teacher.person].join()
    teacher.wait_for("waiting")
    expect(teacher.frame.locator("[data-after]")).to_contain_text("a person reads it")
    student.wait_for("done")
    teacher.person.ready()
    cables[teacher.person].cut()
    expect(teacher.frame.locator("[data-line]")).to_contain_text("Connection lost")
    press_and_see_it_wait(teacher, "finish")
    cables[teacher.person].join()
    teacher.wait_for("done")
    assert_kept(talks, said, "reported")
    assert_clean(ada, grace)


def write_while_cut_off_and_reload(student: Talker, cable: Cable, said: Said) -> None:
    """Write a question that the server can keep only later, in a browser that keeps nothing."""
    cable.cut()
    expect(student.frame.locator("[data-line]")).to_contain_text("Connection lost")
    student.write(said.question)
    student.person.page.wait_for_timeout(1_000)
    cable.join()
    expect(student.frame.locator("[data-line]")).to_have_text("Connected")
    student.person.page.wait_for_timeout(500)
    student.person.page.reload()
    student.wait_for("talking")
    expect(student.frame.locator("[data-question]")).to_have_value(said.question)


def press_and_see_it_wait(talker: Talker, name: str) -> None:
    """Press what ends a dialog or a wait: its question stands until the server has the answer."""
    talker.frame.click(f"[data-action={name}]:visible")
    talker.frame.click(f"[data-action=confirm-{name}]")
    box = talker.frame.locator(f"[data-dialog={name}]")
    expect(box.locator("[data-box-said]")).to_contain_text("Not sent yet")
    expect(box).to_be_visible()


def test_two_people_without_a_mouse(talks: Instance, enter: Enter) -> None:
    ada, grace = enter("Ada of the keys"), enter("Grace of the keys")
    talkers = [Talker(person) for person in (ada, grace)]
    ada.begin(TITLE)
    ada.key("?")
    drawer = talkers[0].frame.locator("[data-dialog=instructions]")
    expect(drawer).to_be_visible()
    grace.begin(TITLE)
    for talker in talkers:
        talker.wait_for("checking")
        # Its seconds run: nothing lies over them.
        expect(drawer).to_be_hidden()
        keys = Keyboard(talker.person)
        keys.tab_to(talker.frame, "[data-action=ready]")
        talker.person.key("Enter")
    for talker in talkers:
        talker.wait_for("talking")
    student, teacher = sorted(talkers, key=lambda talker: talker.role)
    before, after = teacher.over_paragraphs(3)
    said = Said("What comes then, in short?", f"{before} {after}", "no", "follow_up")
    keys = Keyboard(student.person)
    keys.tab_to(student.frame, "[data-question]")
    student.person.type(said.question)
    student.person.key("Enter")
    teacher.wait_for_move("answer question 1")
    keys = Keyboard(teacher.person)
    keys.tab_to(teacher.frame, "[data-document=section]")
    keys.select("section", before, until=after)
    teacher.person.key("Enter")
    expect(teacher.frame.locator("[data-picked-words]")).to_have_text(said.answer or "")
    teacher.person.key("o", "f", "Control+Enter")
    student.wait_for_move("ask question 2")
    log = student.frame.locator("[data-log]")
    expect(log).to_contain_text(said.answer or "")
    expect(log).to_contain_text("Ask more about this")
    Keyboard(student.person).tab_to(student.frame, "[data-action=end]", back=True)
    student.person.key("Enter")
    Keyboard(student.person).tab_to(student.frame, "[data-action=confirm-end]")
    student.person.key("Enter")
    for talker in (student, teacher):
        talker.wait_for("done")
        Keyboard(talker.person).tab_to(talker.frame, "[data-action=submit]")
        talker.person.key("Enter")
        talker.person.expect_receipt()
    assert_kept(talks, [said], "ended")
    assert_clean(ada, grace)


def test_every_state_is_clean_and_in_sight(talks: Instance, enter: Enter) -> None:
    ada, grace = enter("Ada of the states"), enter("Grace of the states")
    frame = ada.begin(TITLE)
    waiting = Talker(ada)
    waiting.wait_for("waiting")
    expect(frame.locator("[data-waited]")).not_to_have_text("0:00")
    found = look_at(ada, ["[data-waited]", "[data-earned]", "[data-usual]", "[data-action=finish]"])
    expect_nothing_covered(ada)
    frame.click("[data-action=finish]")
    found += faults(ada.page, frame, "dialog[open]")
    frame.press("[data-dialog=finish]", "Escape")
    grace.begin(TITLE)
    waiting.wait_for("checking")
    found += look_at(ada, ["[data-ready-role]", "[data-action=ready]"])
    expect_way_to_instructions(ada, frame)
    for person in (ada, grace):
        Talker(person).say_here()
    for person in (ada, grace):
        Talker(person).wait_for("talking")
    student, teacher = sorted((Talker(ada), Talker(grace)), key=lambda talker: talker.role)
    both = ["[data-move-title]", "[data-partner]", "[data-log]", "[data-pay]", "[data-action=end]"]
    asks = ["[data-topic-title]", "[data-background-text]", "[data-question]", "[data-action=ask]"]
    answers = [".picked-zone", ".none", "[data-field=continuation] .card", "[data-action=answer]"]
    found += look_at(student.person, both + asks)
    assert share_for_the_section(teacher) > 0.5
    long = Said("Which of the many things that happened came first? " * 5, None, "neither", "maybe")
    student.ask(long)
    teacher.wait_for_move("answer question 1")
    found += look_at(teacher.person, both + answers)
    assert share_for_the_section(teacher) > 0.3
    # While they talk, before they end it and on the bill one amount is named: all that is earned.
    earned = [first_amount(talker.frame, "[data-pay]") for talker in (student, teacher)]
    assert all(amount > Decimal(0) for amount in earned)
    for name in ("end", "complain"):
        teacher.frame.click(f"[data-scene=talking] [data-action={name}]")
        if name == "end":
            assert first_amount(teacher.frame, "[data-end-text]") == earned[1]
        found += faults(teacher.person.page, teacher.frame, "dialog[open]")
        teacher.frame.press(f"[data-dialog={name}]", "Escape")
    for talker in (student, teacher):
        for width in (1920, 820, 400):
            talker.person.page.set_viewport_size({"width": width, "height": 1000})
            assert set(measure(talker.frame, "scrollers")) <= {"html", "DIV.talk-log"}
        found += faults(talker.person.page, talker.frame)
    assert found == []
    teacher.frame.click("[data-scene=talking] [data-action=complain]")
    teacher.frame.click("[data-action=confirm-complaint]")
    refusal = teacher.frame.locator("[data-form=complaint] [data-box-said]")
    expect(refusal).to_contain_text("Choose")
    teacher.frame.check("[value=nonsense]")
    teacher.frame.click("[data-action=confirm-complaint]")
    teacher.wait_for("waiting")
    expect(teacher.frame.locator("[data-after]")).to_contain_text("a person reads it")
    student.wait_for("done")
    assert first_amount(student.frame, "[data-bill] tfoot") == earned[0]
    assert faults(student.person.page, student.frame) == []
    assert_clean(ada, grace)


def first_amount(frame: Frame, selector: str) -> Decimal:
    """Return the first amount of money in what stands there."""
    return Decimal(re.findall(r"\$([\d.]+\d)", frame.inner_text(selector))[0])


def expect_way_to_instructions(person: Person, frame: Frame) -> None:
    """The note names the button that is in sight, at a desk and on a phone."""
    note = frame.locator("[data-scene=checking] .hall-note")
    expect(note).to_contain_text("Instructions above, or ?, at any time", use_inner_text=True)
    person.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(note).to_contain_text("More above, then Instructions, at any time", use_inner_text=True)
    person.page.set_viewport_size({"width": 1366, "height": 768})


def share_for_the_section(teacher: Talker) -> float:
    """Return how much of a phone's window is above the teacher's form and below the bar."""
    page = teacher.person.page
    size = page.viewport_size
    assert size
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    [form] = measure(teacher.frame, "boxes", ".talk")
    [bar] = measure(teacher.frame, "boxes", ".bar")
    page.set_viewport_size(size)
    return float(form["top"] - max(0, bar["bottom"])) / PHONE[1]


def look_at(person: Person, in_sight: list[str]) -> list[str]:
    """Return what axe finds, once all is in sight, large enough, and one button is the primary."""
    frame = person.frame
    assert measure(frame, "outOfSight", in_sight) == []
    assert measure(frame, "smallerThan", 16, ".block, [data-question], .talk-words") == []
    assert len(measure(frame, "primaries")) <= 1
    return faults(person.page, frame)
