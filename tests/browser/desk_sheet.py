"""Takes the requester's pages of a contact sheet, in every state they can be in."""

from playwright.sync_api import Page

from tests.browser.row_assertions import ROWS
from tests.browser.sheet import Sheet
from tests.serving import Instance

JUDGED = "tests.browser.difficulty_rows"
OF_ALL = ("", "accounts/", "collections/", "collections/new/")
OF_COLLECTION = (
    "",
    "change/",
    "finish/",
    "seeds/",
    "qualification/",
    "workers/",
    "questions/",
    "money/",
    "money/work/",
    "problems/",
    "texts/",
    "texts/consent/",
    "releases/",
    "report/",
)
# The state of an assignment's pay, by the list of work on which its page is found.
OF_PAY = ("submitted_empty", "refused", "proposed", "waiting", "rejected")


def take_desk(sheet: Sheet, rita: Page, state: str, slug: str = "") -> None:
    """Take the requester's pages, those of one collection too if it is given."""
    for path in OF_ALL:
        rita.goto(f"/{path}")
        sheet.take(rita, f"desk: {path.strip('/') or 'start'}", state)
    for path in OF_COLLECTION if slug else ():
        rita.goto(f"/collections/{slug}/{path}")
        sheet.take(rita, f"desk: {path.strip('/') or 'overview'}", state)
        inner = rita.locator(f"main a[href^='/collections/{slug}/{path}']:not([href*='?'])")
        if path in ("questions/", "releases/") and inner.count():
            inner.first.click()
            sheet.take(rita, f"desk: one of {path.strip('/')}", state)


def take_decisions(sheet: Sheet, rita: Page, state: str, slug: str) -> None:
    """Take what is refused, and one assignment for each state its pay can be in."""
    rita.goto(f"/collections/{slug}/money/")
    sheet.take(rita, "desk: money, a bonus refused", state)
    rita.goto(f"/collections/{slug}/workers/1/")
    sheet.take(rita, "desk: worker", state)
    for name in OF_PAY:
        rita.goto(f"/collections/{slug}/money/work/?show={name}")
        found = rita.locator("main td a")
        if found.count():
            sheet.take(rita, f"desk: work {name}", state)
            found.first.click()
            for closed in rita.locator("main details.propose > summary").all():
                closed.click()
            sheet.take(rita, f"desk: one of work {name}", state)


def take_sets(sheet: Sheet, instance: Instance, rita: Page) -> None:
    """Take the sets of pages that pairs are drawn from: none yet, proposed, one of them."""
    at = f"/collections/{instance.call(f'{JUDGED}:open_draft')}/seeds/sets/"
    rita.goto(at)
    sheet.take(rita, "candidate sets", "empty")
    rita.locator("main .first-sets button").click()
    sheet.take(rita, "candidate sets", "full")
    rita.locator("main .sets-table th a").first.click()
    sheet.take(rita, "candidate sets: one", "one item")
    rita.goto(f"{at}?role=comparison")
    rita.locator("main .sets-table th a").first.click()
    sheet.take(rita, "candidate sets: one", "full")


def take_difficulty(sheet: Sheet, instance: Instance, rita: Page) -> None:
    """Take a collection of pairs that is judged, and its release with what is kept back."""
    slug = instance.call(f"{JUDGED}:open_answered")
    rita.goto(f"/collections/{slug}/difficulty/")
    sheet.take(rita, "difficulty", "empty")
    rita.locator("main .first-sample button").click()
    sheet.take(rita, "difficulty", "one item")
    rita.locator("main .workers-table .button").first.click()
    sheet.take(rita, "difficulty: sampled worker", "empty")
    for option in rita.locator("main .marks input[value=single]").all():
        option.check()
    rita.locator("main .hop-decision button[value='']").click()
    sheet.take(rita, "difficulty: sampled worker", "full")
    instance.call(f"{JUDGED}:finish", slug)
    rita.goto(f"/collections/{slug}/difficulty/")
    sheet.take(rita, "difficulty", "full")
    rita.goto(f"/collections/{slug}/releases/1/")
    sheet.take(rita, "difficulty: release, some kept back", "full")


def take_partners(sheet: Sheet, rita: Page, slug: str) -> None:
    """Take what partners of dialogs have reported, before and after it is decided."""
    rita.goto(f"/collections/{slug}/problems/partners/")
    sheet.take(rita, "partner reports", "one item")
    rita.locator("main .complaint [name=decision][value=warn]").click()
    sheet.take(rita, "partner reports", "error")
    rita.locator("main .complaint [name=words]").fill("Please be kind to whoever you talk with.")
    rita.locator("main .complaint [name=decision][value=warn]").click()
    sheet.take(rita, "partner reports", "empty")
    rita.goto(f"/collections/{slug}/problems/partners/?show=decided")
    sheet.take(rita, "partner reports, decided", "one item")


def take_wordy(sheet: Sheet, instance: Instance, rita: Page) -> None:
    """Take the pages of a collection whose people write as much as they may."""
    slug = instance.call(f"{ROWS}:open_wordy")
    take_desk(sheet, rita, "longest text", slug)
    take_decisions(sheet, rita, "longest text", slug)


def take_refusals(sheet: Sheet, rita: Page, slug: str) -> None:
    """Take what a requester sees of something that is not there or was filled in wrongly."""
    rita.goto("/collections/none/")
    sheet.take(rita, "desk: no such page", "error")
    rita.goto("/collections/new/")
    rita.locator("main form button.primary").click()
    sheet.take(rita, "desk: collections/new", "error")
    rita.goto(f"/collections/{slug}/change/")
    rita.locator("main .parameters input").first.fill("a lot")
    rita.locator("main form.changes > .actions .primary").click()
    sheet.take(rita, "desk: change", "error")
    rita.locator("main .parameters input").first.fill("7.50")
    rita.locator("main form.changes > .actions .primary").click()
    sheet.take(rita, "desk: change, seen before it is saved", "one item")
    rita.goto(f"/collections/{slug}/")
    rita.locator("#budget-field").fill("lots")
    rita.locator("#budget button").click()
    sheet.take(rita, "desk: overview", "error")
