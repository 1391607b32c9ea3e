"""The question page under a person's mouse."""

from dataclasses import dataclass
from time import monotonic
from typing import Any

from tests.browser.person import Person
from tests.browser.phrase import Phrase, occurrences, phrase


@dataclass(frozen=True)
class Written:
    """A question as it was meant: what the rows must say."""

    item: str
    text: str
    evidence: Phrase
    links: tuple[str, ...]


def plan(items: list[dict[str, Any]], count: int, multi_link: int) -> list[Written]:
    """Return `count` questions over the page's paragraphs, the first ones with two links."""
    written = []
    for number in range(count):
        item = items[number % len(items)]
        titles = list(dict.fromkeys(link["title"] for link in item["links"]))
        first = 2 + 3 * (number // len(items))
        links = tuple(titles[number % 3 :][: 2 if number < multi_link else 1])
        text = f"How many years before the {links[0]} did matter {number + 1} come about?"
        written.append(Written(item["id"], text, phrase(item["text"], first, 3), links))
    return written


class QuestionPage:
    """Writes questions by mouse, and by nothing else but the typing of words."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.frame = person.frame
        self.items = {item["id"]: item for item in person.state()["items"]}

    def write(self, question: Written) -> None:
        """Write one question; the page must stand at a new one."""
        person = self.person
        if self.frame.get_attribute("[data-document=main]", "data-item") != question.item:
            person.click(f".rail-stop[data-item='{question.item}']")
        if not self.frame.evaluate("document.activeElement.matches('[data-text]')"):
            person.click("[data-text]")
        person.type(question.text)
        person.drag("main", question.evidence.words, question.evidence.occurrence)
        for title in question.links:
            self.pick(question.item, title)

    def pick(self, item: str, title: str) -> None:
        """Click the link of this title in the paragraph."""
        text = self.items[item]["text"]
        link = next(link for link in self.items[item]["links"] if link["title"] == title)
        surface = text[link["start"] : link["end"]]
        self.person.press_on("main", surface, occurrences(text, surface, link["start"]))

    def next(self) -> None:
        """Go on to the next question."""
        self.person.click("[data-action=next]")

    def submit(self) -> None:
        """Submit, and wait for the marketplace's receipt."""
        self.person.submitted_at = monotonic()
        self.person.click("[data-action=submit]")
        self.person.page.wait_for_url("**/submitted/")
