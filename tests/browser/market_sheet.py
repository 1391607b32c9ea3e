"""Takes the marketplace's desk for a contact sheet: the host's pages, and a requester's."""

import re

from playwright.sync_api import Page

from tests.browser.sheet import Sheet
from tests.serving import Instance

LAB = "A lab by the sea"
HOST = ("requesters", "workers", "workers/import", "groups", "invitations", "payouts", "settings")
OWN = ("projects", "team", "letters", "hits", "events", "account", "asked")
PEOPLE = (
    "name,mail,mturk_id,prolific_id,language,qualifications,notes,favourite\n"
    "Ada,ada@example.org,A2OLD,,en,Spring class; Reader=85,came with the pilot,plums\n"
    "Grace,grace@example.org,,5f0,de,Spring class,,\n"
    "Hannah,nowhere,,,en,,,\n"
)


def take_market_desk(sheet: Sheet, instance: Instance, rita: Page) -> None:
    """Take the desk with nothing on it, and with work that waits for its requester."""
    at = f"{instance.marketplace_url}/desk"

    def take(path: str, state: str) -> None:
        rita.goto(f"{at}/{path}/")
        sheet.take(rita, f"market desk: {re.sub('/[0-9]+', '', path)}", state)

    instance.call("tests.browser.market_rows:open_new_lab", f"{LAB}, new")
    _act_for(rita, at, f"{LAB}, new")
    for path in OWN:
        take(path, "empty")
    keys = instance.call("tests.browser.market_rows:open_lab", LAB)
    for path in HOST:
        take(path, "one item")
    _import(sheet, rita, at)
    _act_for(rita, at, LAB)
    hit, batch = f"hits/{keys['hit']}", f"batches/{keys['batch']}"
    for path in (*OWN, hit, f"{hit}/bonuses", batch, f"{batch}/bonuses"):
        take(path, "one item")
    _bonus(sheet, rita)


def _act_for(rita: Page, at: str, name: str) -> None:
    rita.goto(f"{at}/requesters/")
    # Browsers put a space before the words for screen readers, or none.
    rita.get_by_role("button", name=re.compile(rf"^Act for it ?: {name}$")).click()


def _import(sheet: Sheet, rita: Page, at: str) -> None:
    """Take what an import would do, and what it did."""
    rita.goto(f"{at}/workers/import/")
    people = {"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE.encode()}
    rita.locator("main input[type=file]").set_input_files(people)
    rita.locator("main form button").first.click()
    sheet.take(rita, "market desk: what an import would do", "one item")
    rita.locator("main button[name=apply]").click()
    sheet.take(rita, "market desk: what an import did", "one item")


def _bonus(sheet: Sheet, rita: Page) -> None:
    """Take a bonus as it is refused, and as it is looked at before it is sent."""
    name = "market desk: batches/bonuses"
    rita.locator("main form button").last.click()
    sheet.take(rita, name, "error")
    rita.locator("main input[name=work]").first.check()
    rita.locator("main [name=amount]").fill("0.50")
    rita.locator("main [name=reason]").fill("Careful work, thank you.")
    rita.locator("main form button").last.click()
    sheet.take(rita, f"{name}, looked at", "one item")
