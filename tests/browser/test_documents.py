"""A question that takes several passages, and its answer, found by search: by mouse, by key."""

from playwright.sync_api import Frame, Route, expect

from tests.browser import EVERY_TEST
from tests.browser.axe_violations import faults
from tests.browser.conftest import Enter
from tests.browser.keyboard import Keyboard
from tests.browser.person import Person
from tests.browser.phrase import phrase
from tests.browser.row_assertions import ROWS
from tests.browser.task_bar import expect_one_bar, expect_room_to_read
from tests.serving import Instance

pytestmark = EVERY_TEST
DOCUMENTS = "tests.browser.document_rows"
ASK = "Ask over documents"
ASKED = "What do both of these places have in common?"
# Wide enough for list and passage side by side is the last of them alone.
WIDTHS = ((390, "m"), (768, "m"), (1200, "m"), (1366, "xl"), (1366, "m"))
SHORT, FULL = "A name", "Both of them have one name."


def test_passages_are_asked_about_by_mouse_and_found_again_by_key(
    instance: Instance, enter: Enter
) -> None:
    instance.call(f"{DOCUMENTS}:open_documents", "documents", ASK)
    ada, grace = enter("Ada of documents"), enter("Grace of documents", 390, 800)
    marked = ask_by_mouse(ada)
    found = find_by_key(Keyboard(grace), marked[0])
    own, other = instance.call(f"{DOCUMENTS}:stored", "documents")
    instance.call(f"{ROWS}:put_away", "documents")
    same = {"question": ASKED, "category": "comparison", "type": "answer"}
    same |= {"short": SHORT, "full": FULL}
    assert own == same | {"evidence": marked, "searches": None, "opened": 0}
    assert other == same | {"evidence": [found], "searches": [marked[0]], "opened": 1}
    assert ada.mistakes == grace.mistakes == []
    assert ada.cookies_of_the_frame() == grace.cookies_of_the_frame() == []


def ask_by_mouse(ada: Person) -> list[str]:
    """Write a question; return the words that were marked in each passage."""
    frame = ada.begin(ASK)
    expect_one_bar(ada)
    expect_room_to_read(ada)
    passages = ada.state()["items"][0]["paragraphs"]
    assert len(passages) > 1
    ada.click("#field-text")
    ada.type(ASKED)
    frame.select_option("[data-category]", "comparison")
    marked = []
    for passage in passages:
        words = phrase(passage["text"], 0, 4).words.rstrip(",.;:")
        # A mark grows to whole words.
        ada.drag(f"{passage['document']}#{passage['paragraph']}", words[:-1])
        marked.append(words)
        expect(frame.locator("[data-piece]")).to_have_count(len(marked))
    ada.click("[data-action=undo]")
    expect(frame.locator("[data-piece]")).to_have_count(len(marked) - 1)
    ada.click("[data-action=submit]")
    expect(frame.locator("[data-problems]")).to_contain_text("things to mend")
    assert faults(ada.page, frame) == []
    ada.key("Escape")
    ada.drag(f"{passages[-1]['document']}#{passages[-1]['paragraph']}", marked[-1])
    write(frame)
    ada.expect_progress("1 of 1 sets")
    ada.wait_until_saved()
    ada.page.reload()
    frame = ada.ready()
    expect(frame.locator("[data-piece]")).to_have_count(len(marked))
    expect(frame.locator("#field-full")).to_have_value(FULL)
    assert faults(ada.page, frame) == []
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    return marked


def write(frame: Frame) -> None:
    """Write the short and the full answer."""
    frame.fill("#field-short", SHORT)
    frame.fill("#field-full", FULL)


def find_by_key(keyboard: Keyboard, query: str) -> str:
    """Search, open the first passage that is found, mark in it; return the words, all by keys."""
    grace = keyboard.person
    frame = grace.begin(f"{ASK} again")
    expect(frame.locator("[data-question]")).to_have_text(ASKED)
    assert faults(grace.page, frame) == []
    keyboard.tab_to(frame, "#corpus-query")
    grace.type(query)
    grace.key("Enter")
    expect(frame.locator(".result").first).to_be_visible()
    assert faults(grace.page, frame) == []
    grace.key("ArrowDown", "ArrowDown", "ArrowUp", "Enter")
    text = frame.locator("[data-document-text]")
    expect(text).to_be_focused()
    words = phrase(text.inner_text(), 0, 3).words.rstrip(",.;:")
    name = frame.locator(".result").first.get_attribute("data-name")
    keyboard.select(str(name), words)
    grace.key("Enter")
    expect(frame.locator("[data-piece]")).to_contain_text(words)
    assert faults(grace.page, frame) == []
    # That the documents do not have it counts when it was searched for often enough.
    grace.key("u")
    searches = frame.locator("[data-checklist] li")
    expect(searches).to_have_text("Searches: 1, at least 2: missing")
    grace.expect_progress("0 of 1 answered")
    grace.key("a")
    # To the results and back, to the search and out of it: always one key.
    grace.key("r")
    expect(frame.locator(".result").first).to_be_focused()
    grace.key("t", "f")
    expect(frame.locator("#corpus-query")).to_be_focused()
    grace.key("Escape")
    expect(frame.locator("#corpus-query")).to_have_value(query)
    grace.key("e")
    grace.type(SHORT)
    grace.key("Tab")
    grace.type(FULL)
    grace.key("Escape")
    grace.expect_progress("1 of 1 answered")
    keyboard.tab_to(frame, "[data-action=submit]")
    grace.key("Enter")
    grace.expect_receipt()
    return words


def test_a_draft_that_comes_late_leaves_what_is_typed_to_be_searched(
    instance: Instance, enter: Enter
) -> None:
    title, typed = "Ask late", "not searched yet"
    instance.call(f"{DOCUMENTS}:open_documents", "late", title)
    ada, grace = enter("Ada who asks late", 390, 800), enter("Grace who reloads")
    frame = ada.begin(f"{title} naturally")
    expect_long_words_to_break(frame)
    frame.fill("#field-text", ASKED)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    frame = grace.begin(f"{title} found")
    with grace.page.expect_request("**/hit/draft") as saving:
        frame.fill("#field-short", SHORT)
    grace.wait_until_saved()
    draft = saving.value.post_data_json["draft"]
    draft["data"]["answers"][0]["short"] = "Written before the reload"
    held: list[Route] = []
    grace.page.route("**/hit/draft", lambda route: held.append(route))
    with grace.page.expect_request("**/hit/draft"):
        grace.page.reload()
        frame = grace.ready()
    grace.click("#corpus-query")
    grace.type(typed)
    held[0].fulfill(json={"version": 99, "draft": draft})
    expect(frame.locator("#field-short")).to_have_value("Written before the reload")
    expect(frame.locator("#corpus-query")).to_have_value(typed)
    expect(frame.locator("#corpus-query")).to_be_focused()
    instance.call(f"{ROWS}:put_away", "late")
    assert grace.mistakes == []


def test_a_passage_that_was_found_is_read_on_pages_of_every_width(
    instance: Instance, enter: Enter
) -> None:
    instance.call(f"{DOCUMENTS}:open_documents", "widths", "Ask at all widths")
    ada = enter("Ada of all widths")
    ada.begin("Ask at all widths naturally")
    ada.frame.fill("#field-text", ASKED)
    ada.click("[data-action=submit]")
    ada.expect_receipt()
    for by_touch in (False, True):
        grace = enter(f"Grace by {'touch' if by_touch else 'mouse'}", by_touch=by_touch)
        frame = grace.begin("Ask at all widths found")
        # No key is hinted at where there is none.
        has_keys = not frame.evaluate("matchMedia('(hover: none) and (pointer: coarse)').matches")
        expect(frame.locator("[data-results-help] .by-key")).to_be_visible(visible=has_keys)
        frame.fill("#corpus-query", "the")
        frame.press("#corpus-query", "Enter")
        for width, letters in WIDTHS:
            grace.page.set_viewport_size({"width": width, "height": 768})
            frame.evaluate("size => document.documentElement.dataset.textSize = size", letters)
            expect_passages_to_be_read(frame, "tap" if by_touch else "click")
        assert faults(grace.page, frame) == []
        grace.page.goto(grace.at("work/"))
        assert grace.mistakes == []
    instance.call(f"{ROWS}:put_away", "widths")


def expect_passages_to_be_read(frame: Frame, press: str) -> None:
    """Open the first and the last passage found; the window shows where each begins."""
    for result in (frame.locator(".result").first, frame.locator(".result").last):
        getattr(result, press)()
        opened = frame.locator("[data-opened]")
        expect(opened).to_be_visible()
        expect(opened).to_have_attribute("data-document", str(result.get_attribute("data-name")))
        expect(opened.locator("[data-document-title]")).to_be_in_viewport()
        expect(opened.locator("[data-document-text]")).to_be_in_viewport()
        back = frame.locator("[data-action=results]")
        if back.is_visible():
            expect(frame.locator("[data-results]")).to_be_hidden()
            getattr(back, press)()
            expect(result).to_be_focused()


def expect_long_words_to_break(frame: Frame) -> None:
    """Put a word wider than a phone where titles and passages stand: the page stays as wide."""
    for place in ("outlines", "cited", "opened"):
        frame.evaluate(
            """place => {
                const one = document.createElement("div");
                one.className = place;
                one.append(document.createElement("h2"));
                one.firstChild.textContent = "LONG_".repeat(20);
                document.querySelector(".outlines").after(one);
            }""",
            place,
        )
    assert frame.evaluate("document.body.scrollWidth <= document.body.clientWidth")
