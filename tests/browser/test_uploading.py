"""Documents are uploaded in a browser: what is sent, what is left out, what there is then."""

import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import EVERY_TEST

pytestmark = EVERY_TEST
# As documents about programs have it: a name of many words that a phone has to break.
LONG = "set_the_longest_time_that_an_attempt_at_a_family_of_addresses_takes()"
LEAVE = "Everybody has thirty days of leave a year, to be taken when they like. "
TEXT = f"# {{}}\n\n## {LONG}\n\n{LEAVE * 8}"


def make_zip(folder: Path) -> Path:
    """Return a zip of two documents and of one that is none."""
    path = folder / "handbook.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name in ("Leave", "Pay"):
            made.writestr(f"rules/{name.lower()}.md", TEXT.format(name))
        made.writestr("rules/plan.pdf", "This is no PDF.")
    return path


def test_a_zip_with_one_bad_file_becomes_a_corpus_that_says_what_was_left_out(
    rita: Page, tmp_path: Path
) -> None:
    sent: list[str] = []
    rita.expose_function("told", lambda line: sent.append(line))
    rita.goto("/corpora/new/")
    rita.evaluate(
        """() => {
            const line = document.querySelector("[data-sending]");
            const tell = () => line.hidden || window.told(line.textContent.trim());
            new MutationObserver(tell).observe(
                line, { attributes: true, childList: true, subtree: true });
        }"""
    )
    rita.get_by_label("Files").set_input_files(make_zip(tmp_path))
    expect(rita.locator("[data-chosen]")).to_have_text("1 file, 2 KB")
    rita.get_by_role("button", name="Upload").click()
    # The form came back as it was, with what is missing at its field; the file is still chosen.
    expect(rita.locator("[data-chosen]")).to_have_text("1 file, 2 KB")
    expect(rita.get_by_role("alert")).to_contain_text("missing or wrong")
    rita.get_by_label("Name of the corpus").fill("Browser handbook")
    rita.get_by_role("button", name="Upload").click()
    rita.wait_for_url("**/corpora/browser-handbook/")
    assert any(line.startswith("Sending: ") for line in sent)
    # It keeps itself up to date until a job has read them.
    expect(rita.get_by_text("2 new")).to_be_visible(timeout=60_000)
    left_out = rita.locator(".outcome", has_text="Left out").get_by_role("listitem")
    expect(left_out).to_have_count(1)
    expect(left_out).to_contain_text("rules/plan.pdf")
    expect(rita.get_by_role("row")).to_have_count(3)
    # Below the table stand the acts that remove, each a card of its own.
    gaps = rita.evaluate(
        """() => [...document.querySelectorAll(".card")].map((card) =>
            card.getBoundingClientRect().top
            - card.previousElementSibling.getBoundingClientRect().bottom)"""
    )
    assert len(gaps) == 2
    assert min(gaps) >= 16
    rita.get_by_role("link", name="Leave").click()
    expect(rita.get_by_role("heading", name="Leave", level=1)).to_be_visible()
    expect(rita.get_by_text("thirty days of leave").first).to_be_visible()
    rita.set_viewport_size({"width": 390, "height": 844})
    assert rita.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
