"""What the page in a HIT's frame does while somebody works on it."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks.simulation.browser import Browser, Form, Page, StuckError

# (item id, title) -> a linked article as the page gets it, None if it is not there.
Opener = Callable[[str, str], Mapping[str, Any] | None]


@dataclass
class WorkPage:
    """What the page in the frame does while somebody works on it."""

    browser: Browser
    page: Page
    state: Mapping[str, Any]
    counts: Counter[str]
    _version: int = -1
    _found: set[str] = field(default_factory=set)
    _answers: dict[str, dict[str, Mapping[str, Any]]] = field(
        default_factory=lambda: {"search": {}, "article": {}}
    )

    def read_instructions(self) -> None:
        """Close the instructions, which open by themselves once per version."""
        instructions = self.state["instructions"]
        if not instructions["seen"]:
            self._post("instructions_seen", {"version": instructions["version"]})

    def open_article(self, item: str, title: str) -> Mapping[str, Any] | None:
        """Return a linked article as the page gets it, None if it is not there.

        On a page with a search box it is the passage of this name that a search has brought;
        anything else is searched for.
        """
        if "results_per_search" in self.state["limits"] and title not in self._found:
            return self._search(item, title)
        status, found = self._post("article", {"item": item, "title": title})
        self.counts["articles opened"] += 1
        if status != 200:
            return None
        if title in self._found:
            self._answers["article"][title] = found
        return found

    def _search(self, item: str, query: str) -> Mapping[str, Any] | None:
        status, found = self._post("search", {"item": item, "query": query})
        self.counts["searches"] += 1
        if status != 200:
            message = str(found.get("message", status))
            self.browser.observer.could_not_search(self.state, message)
            return None
        self._answers["search"][query] = found
        self._found |= {f"{hit['document']}#{hit['paragraph']}" for hit in found["results"]}
        return found

    def goes_on(self, data: Mapping[str, Any]) -> bool:
        """Give the next answer of a page that shows its questions one after another.

        Returns whether that brought a further question; the page's state has it then. Raises
        StuckError for an answer that the page refuses.
        """
        ordered_answers = self.state.get("ordered_answers", [])
        if not ordered_answers or ordered_answers[-1]["own"] is not None:
            return False
        item = ordered_answers[-1]["item"]
        given = next(dict(answer) for answer in data["answers"] if answer["item"] == item)
        body = {"item": given.pop("item"), "answer": given}
        status, found = self._post("answer", body)
        if status != 200:
            raise StuckError(f"An answer was not taken: {found.get('problems', status)}")
        self.counts["answers given in order"] += 1
        self.state = {**self.state, "ordered_answers": found["ordered_answers"]}
        return True

    def save(self, data: dict[str, Any]) -> None:
        """Save drafts as the page does while one writes: the first half, then all."""
        for share in (2, 1):
            part = {
                name: entries[: len(entries) // share] if isinstance(entries, list) else entries
                for name, entries in data.items()
            }
            version = self.state["draft_version"] if self._version < 0 else self._version
            draft = {"data": part, "ui": {}}
            status, found = self._post("draft", {"version": version, "draft": draft})
            if status != 200:
                raise StuckError(f"A draft was not saved: {found.get('message', status)}")
            self._version = found["version"]
            self.counts["drafts saved"] += 1
        if found["hints"]:
            self.browser.observer.advised(self.page, self.state, data, found["hints"])

    def submit(self, data: dict[str, Any]) -> tuple[Form | None, list[str]]:
        """Return the form that hands the work over, else None and what is to mend."""
        status, found = self._post("submit", {"data": data})
        if status == 422:
            self.browser.observer.refused(self.page, self.state, data, found["problems"])
            return None, [problem["message"] for problem in found["problems"]]
        if status != 200:
            raise StuckError(f"The work was not taken in: {found.get('message', status)}")
        self.browser.observer.submitted(self.page, self.state, data, self._answers)
        return Form(found["form"]["action"], "post", dict(found["form"]["fields"])), []

    def _post(self, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        return self.browser.post(self.page, self.state["urls"][name], self.state["token"], body)
