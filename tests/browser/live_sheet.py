"""Takes the pages of a contact sheet on which people talk, read pairs, or answer in order."""

from playwright.sync_api import Page

from tests.browser.conftest import Enter
from tests.browser.dialog_page import Said, Talker
from tests.browser.pair_page import words_of, write
from tests.browser.person import Person
from tests.browser.sheet import Sheet
from tests.serving import Instance

TALK = "Talk about a text that one of you sees"
STORY = "Ask about a story"
PAIRS = "Ask about two paragraphs"
VALIDATION = "Answer the questions of a dialog from a text"


def take_dialogs(sheet: Sheet, instance: Instance, enter: Enter) -> None:
    """Take a live dialog from the waiting room to its end, and one that ends by a report."""
    instance.call("tests.browser.dialog_rows:open_talks", "talks", TALK, "seeds.min_tokens=350")
    student, teacher = _meet(sheet, enter("Ida who talks"), enter("Ruth who talks"))
    _talk(sheet, student, teacher)
    student.person.click("[data-scene=talking] [data-action=end]")
    sheet.take(student.person.page, "dialog: end it", "one item", whole=False)
    student.person.click("[data-action=confirm-end]")
    for talker in (student, teacher):
        talker.wait_for("done")
        sheet.take(talker.person.page, f"dialog: ended, {talker.role}", "full", whole=False)
        talker.person.click("[data-action=submit]")
        talker.person.expect_receipt()
    _report(sheet, enter("Nora who talks"), enter("Edith who talks"))


def _meet(sheet: Sheet, *people: Person) -> tuple[Talker, Talker]:
    """Return the student and the teacher once both are there."""
    one, other = (Talker(person) for person in people)
    one.person.begin(TALK)
    one.wait_for("waiting")
    sheet.take(one.person.page, "dialog: waiting room", "empty", whole=False)
    other.person.begin(TALK)
    one.wait_for("checking")
    sheet.take(one.person.page, "dialog: ready-check", "one item", whole=False)
    for talker in (one, other):
        talker.say_here()
    for talker in (one, other):
        talker.wait_for("talking")
    student, teacher = sorted((one, other), key=lambda talker: talker.role)
    return student, teacher


def _talk(sheet: Sheet, student: Talker, teacher: Talker) -> None:
    """Take both partners' turns: nothing said yet, one answer marked, refused, three turns."""
    words = teacher.section
    told = [
        Said("Where did it all begin?", " ".join(words[2:12]), "neither", "follow_up"),
        Said("Was that as hard as everybody had thought it would be?", None, "neither", "maybe"),
        Said("Who else had a hand in it?", " ".join(words[40:65]), "yes", "dont"),
    ]
    student.wait_for_move("ask question 1")
    sheet.take(student.person.page, "dialog: student", "empty", whole=False)
    sheet.take(teacher.person.page, "dialog: teacher", "empty", whole=False)
    for number, said in enumerate(told, 1):
        student.wait_for_move(f"ask question {number}")
        student.ask(said)
        teacher.wait_for_move(f"answer question {number}")
        if number == 1:
            teacher.person.click("[data-action=answer]")
            sheet.take(teacher.person.page, "dialog: teacher", "error", whole=False)
        teacher.fill(said)
        if number != 2:
            state = "one item" if number == 1 else "full"
            sheet.take(teacher.person.page, "dialog: teacher", state, whole=False)
        teacher.person.click("[data-action=answer]")
    student.wait_for_move("ask question 4")
    sheet.take(student.person.page, "dialog: student", "full", whole=False)


def _report(sheet: Sheet, one: Person, other: Person) -> None:
    """Take what both see when the teacher reports the student."""
    student, teacher = _meet(sheet, one, other)
    student.ask(Said("Why should anybody care, you fool?", None, "neither", "maybe"))
    teacher.wait_for_move("answer question 1")
    teacher.person.click("[data-scene=talking] [data-action=complain]")
    sheet.take(teacher.person.page, "dialog: report the partner", "one item", whole=False)
    teacher.frame.check("[value=rude]")
    teacher.person.click("[data-action=confirm-complaint]")
    teacher.wait_for("waiting")
    student.wait_for("done")
    sheet.take(teacher.person.page, "dialog: reported, who reports", "one item", whole=False)
    sheet.take(student.person.page, "dialog: reported, the other", "one item", whole=False)


def take_validation(sheet: Sheet, instance: Instance, ada: Person) -> None:
    """Take a finished dialog's questions as they are answered again."""
    instance.call("tests.browser.rows:read_sample")
    instance.call("tests.browser.validation_rows:open_talks", "validated")
    frame = ada.begin(VALIDATION)
    name = "validation page"
    sheet.take(ada.page, name, "empty", whole=False)
    frame.press("[data-action=give]", "Enter")
    sheet.take(ada.page, name, "error", whole=False)
    ada.drag("section", " ".join(ada.texts("section")[0].split()[2:6]))
    sheet.take(ada.page, name, "one item", whole=False)
    frame.click("[name=affirmation][value=neither]")
    for number in range(4):
        if number:
            frame.check("[data-none]")
        frame.click("[data-action=give]")
        ada.expect_progress(f"{number + 1} of 4 answered")
    sheet.take(ada.page, name, "full", whole=False)


def take_stories(sheet: Sheet, instance: Instance, rita: Page, ada: Person, grace: Person) -> None:
    """Take a question about a story as it is asked and answered, and the page of its labels."""
    instance.call("tests.browser.story_rows:open_stories", "stories", STORY)
    frame = ada.begin(STORY)
    name = "story page"
    sheet.take(ada.page, name, "empty", whole=False)
    ada.click("[data-action=submit]")
    frame.wait_for_selector("[data-problems]:not([hidden])")
    sheet.take(ada.page, name, "error", whole=False)
    ada.click("[data-action=close-problems]")
    frame.fill("#field-question", "What does Bess, Susan or Tamar do for others?")
    frame.fill("#field-answer", "helps them")
    sheet.take(ada.page, name, "full", whole=False)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    grace.begin(f"{STORY} again")
    sheet.take(grace.page, f"{name}: answer again", "empty", whole=False)
    grace.frame.fill("#field-answer", "brings help")
    sheet.take(grace.page, f"{name}: answer again", "full", whole=False)
    rita.goto("/collections/stories/labels/label/")
    sheet.take(rita, "story page: labels, as they are written", "full")
    rita.goto("/collections/stories/labels/label/try/")
    sheet.take(rita, "story page: labels", "empty", whole=False)
    rita.keyboard.press("d")
    sheet.take(rita, "story page: labels, what they mean", "empty", whole=False)
    for key in ("d", "6", "4"):
        rita.keyboard.press(key)
    sheet.take(rita, "story page: labels", "one item", whole=False)


def take_pairs(sheet: Sheet, instance: Instance, ada: Person, grace: Person) -> None:
    """Take questions about pairs as they are written, and as others answer them."""
    instance.call("tests.browser.rows:read_sample")
    instance.call("tests.browser.pair_rows:open_pairs", "two", PAIRS)
    ada.begin(PAIRS)
    items, name = ada.state()["items"], "pairs page"
    sheet.take(ada.page, name, "empty", whole=False)
    ada.click("[data-action=submit]")
    sheet.take(ada.page, name, "error", whole=False)
    ada.click("[data-action=close-problems]")
    write(ada, 0)
    ada.drag("1", words_of(items[0], "1"))
    sheet.take(ada.page, name, "one item", whole=False)
    ada.click("[data-action=next]")
    write(ada, 1)
    ada.drag("0", words_of(items[1], "0"))
    ada.click("[data-action=next]")
    write(ada, 2)
    ada.click("[data-yes-no] [value=yes]")
    ada.click("[data-action=next]")
    ada.click("[data-action=skip]")
    ada.click("[name=skip_reason] >> nth=1")
    sheet.take(ada.page, name, "full", whole=False)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    instance.call("tests.browser.pair_rows:open_second_reading", "two")
    grace.begin(f"{PAIRS} again")
    sheet.take(grace.page, f"{name}: answer again", "empty", whole=False)
    grace.click("[data-yes-no] [value=yes]")
    facts = "[data-widget=paragraphs] .document .sentence:first-child .fact"
    for fact in grace.frame.locator(facts).all():
        fact.click()
    sheet.take(grace.page, f"{name}: answer again", "one item", whole=False)
