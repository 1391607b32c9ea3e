"""The answer page under a person's mouse."""

from dataclasses import dataclass
from time import monotonic

from tests.browser.person import Person
from tests.browser.phrase import Phrase


@dataclass(frozen=True)
class Given:
    """An answer as it was meant: what the rows must say."""

    type: str
    spans: tuple[Phrase, ...] = ()
    value: str = ""
    unit: str = ""
    yes_no: str | None = None
    reason: str = ""
    evidence: tuple[Phrase, ...] = ()


class AnswerPage:
    """Answers by mouse; every mark is a drag, every document is opened by a click."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.frame = person.frame

    @property
    def tab(self) -> str:
        """Return the document in front."""
        return self.frame.get_attribute("[data-tab][aria-selected=true]", "data-tab") or ""

    def open_article(self, title: str) -> str:
        """Click the link of this title in the passage; return the article's first block."""
        self.show("main")
        person = self.person
        person.frame.click(f"[data-document=main] [data-link-title={quoted(title)}] >> nth=0")
        person.actions += 1
        self.frame.wait_for_selector(f"[data-tab={quoted(title)}][aria-selected=true]")
        return person.texts(title)[0]

    def show(self, document: str) -> None:
        """Bring an open document to the front."""
        if document != "question" and self.tab != document:
            self.person.click(f"[data-tab={quoted(document)}] bdi")

    def mark(self, aim: str, phrase: Phrase) -> None:
        """Drag over words as the answer ("spans") or as evidence ("context")."""
        self.show(phrase.document)
        if self.frame.get_attribute(f"[data-aim={aim}]", "aria-pressed") != "true":
            self.person.click(f"[data-aim={aim}]")
        self.person.drag(phrase.document, phrase.words, phrase.occurrence)

    def choose(self, kind: str) -> None:
        """Click on a type of answer; where no article was opened, insist that there is none."""
        self.person.click(f".card[data-type={kind}]")
        asked = self.frame.query_selector("[data-dialog=unopened][open]")
        if asked:
            self.person.click("[data-action=none-all-the-same]")

    def search(self, words: str) -> str:
        """Search in the open document; return the count that the page shows."""
        self.person.click("[data-search-text]")
        self.person.type(words)
        self.frame.wait_for_selector("[data-search-count]:not(:empty)")
        return self.frame.inner_text("[data-search-count]")

    def give(self, answer: Given) -> None:
        """Enter one answer."""
        person = self.person
        if answer.type != "span":
            self.choose(answer.type)
        for phrase in answer.spans:
            self.mark("spans", phrase)
        if answer.value:
            person.click("[data-value]")
            person.type(answer.value)
        if answer.unit:
            person.click("[data-unit]")
            person.type(answer.unit)
        if answer.yes_no:
            person.click(f".card:has([value={answer.yes_no}])")
        if answer.reason:
            self.reason(answer.reason)
        for phrase in answer.evidence:
            self.mark("context", phrase)

    def reason(self, words: str) -> None:
        """Say what is wrong with a question: by one of the offered sentences, or in own words."""
        offered = f"[name=reason_kind][value={quoted(words)}]"
        if self.frame.query_selector(offered):
            self.person.click(offered)
        else:
            self.person.click("[name=reason_kind][value='']")
            self.person.click("[data-field=reason] [data-text]")
            self.person.type(words)

    def next(self) -> None:
        """Go on to the next question."""
        self.person.click("[data-action=next]")

    def submit(self) -> None:
        """Submit, and wait for the marketplace's receipt."""
        self.person.submitted_at = monotonic()
        self.person.click("[data-action=submit]")
        self.person.page.wait_for_url("**/submitted/")


def quoted(words: str) -> str:
    """Return words as a string of a selector."""
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
