"""Simulated workers: they ask what stands between quoted words, and search for those words."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tasks.simulation.gaps import INVENTED, gap
from tasks.work.widgets.evidence import is_inside_word

if TYPE_CHECKING:
    from tasks.simulation.behaviour import Behaviour
    from tasks.simulation.worker import Opener

# Simulated workers who answer search for the quoted words.
BETWEEN = "what stands between “{left}” and “{right}”"
QUOTED = re.compile(r"between “([^”]+)” and “([^”]+)”")
NATURAL = ("What do the documents say about “{about}”?", "What is there to know about “{about}”?")
ABOUT = re.compile(r"about “([^”]+)”")
NONSENSE = "Tell me something nice, number {number}, about this please?"
REASON = "It makes no sense to me."
SKIPPED = "The passages have too little to do with each other."
# The share of questions that the passages do not answer, and the share of sets skipped.
UNANSWERED, SKIPS = 0.2, 0.08
# Tokens quoted on each side of an answer, and tokens in the answer to a natural question.
AROUND, FIRST = 5, 4
# Passages that a simulated worker opens after each search.
LOOKED_AT = 6


def fill(
    page: Mapping[str, object], behaviour: "Behaviour", rng: random.Random, open_article: "Opener"
) -> dict[str, object]:
    """Return the data that the page would send: it passes the protocol's checks.

    Careful workers give the same answer to the same question, whatever their `rng`.
    """
    items: Any = page["items"]
    limits: Any = page["limits"]
    if page["kind"] == "natural_question":
        return {"questions": _ask(items, behaviour, rng)}
    if page["kind"] == "evidence_question":
        return {"questions": _write(items, limits, behaviour, rng)}
    least = int(limits["min_searches"])
    readers = [_Searching(item, open_article, least) for item in items]
    return {"answers": [_answer(reader, behaviour, rng) for reader in readers]}


def _ask(
    items: Sequence[Mapping[str, Any]], behaviour: "Behaviour", rng: random.Random
) -> list[dict[str, Any]]:
    """Return a natural question for each item, about a title or a heading."""
    questions: list[dict[str, Any]] = []
    for number, item in enumerate(items):
        document = rng.choice(item["documents"])
        headings = [heading["words"] for heading in document["headings"]]
        about = " ".join([document["title"], *rng.sample(headings, min(1, len(headings)))])
        text = rng.choice(NATURAL).format(about=about.replace("“", "").replace("”", ""))
        if rng.random() < behaviour.nonsense or any(one["text"] == text for one in questions):
            text = NONSENSE.format(number=rng.randrange(1000) * len(items) + number)
        questions.append({"item": item["id"], "text": text})
    return questions


def _write(
    items: Sequence[Mapping[str, Any]],
    limits: Mapping[str, Any],
    behaviour: "Behaviour",
    rng: random.Random,
) -> list[dict[str, Any]]:
    """Return a question for each set of passages, a few of them skipped."""
    left = limits["max_skips"]
    written = []
    for number, item in enumerate(items):
        if left and rng.random() < SKIPS:
            left -= 1
            written.append({"item": item["id"], "skipped": True, "reason": SKIPPED})
        else:
            written.append(_question(item, number, behaviour, rng))
    return written


def _question(
    item: Mapping[str, Any], number: int, behaviour: "Behaviour", rng: random.Random
) -> dict[str, Any]:
    """Return a question about the text between quoted words of each passage.

    A careless worker asks about the first passage only.
    """
    is_none = rng.random() < UNANSWERED
    is_careless = rng.random() < behaviour.careless_question
    asked, said, evidence = [], [], []
    for place, passage in enumerate(item["paragraphs"]):
        left, span, right, around = gap(passage, rng, AROUND)
        evidence.append(_piece(passage, *(span if is_none else around)))
        if is_careless and place:
            continue
        asked.append(BETWEEN.format(left=left, right=rng.choice(INVENTED) if is_none else right))
        said.append(passage["text"][span[0] : span[1]])
    text = " and ".join(asked) + "?"
    text = text[0].upper() + text[1:]
    if rng.random() < behaviour.nonsense:
        text = NONSENSE.format(number=rng.randrange(1000) * 10 + number)
    given = {"short": "; ".join(said)[:110].strip(), "full": f"It says {'; '.join(said)[:1000]}."}
    return {
        "item": item["id"],
        "text": text[:390],
        "category": "comparison" if len(item["paragraphs"]) > 1 else "fact",
        "type": "none" if is_none else "answer",
        **({"short": "", "full": ""} if is_none else given),
        "evidence": evidence,
        "skipped": False,
        "reason": "",
    }


def _piece(passage: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    named = {"document": passage["document"], "paragraph": passage["paragraph"]}
    return {**named, "start": start, "end": end}


def _answer(
    searching: "_Searching", behaviour: "Behaviour", rng: random.Random
) -> dict[str, object]:
    question = searching.item["question"]
    if rng.random() < behaviour.gives_up:
        return searching.answer("none")
    if about := ABOUT.search(question):
        searching.find_about(about[1])
    elif quoted := QUOTED.findall(question):
        for left, right in quoted:
            searching.find_between(left, right)
        if len(searching.said) < len(quoted):
            return searching.answer("none")
    else:
        return searching.answer("bad", REASON)
    if rng.random() < max(behaviour.wrong_answer, behaviour.nonsense):
        searching.said = [f"something else, number {rng.randrange(1000)}"]
    return searching.answer("answer" if searching.evidence else "none")


class _Searching:
    """One worker with one question: what they searched for, opened, and found.

    least: the number of different searches that the page requires for the answer "none".
    """

    def __init__(self, item: Mapping[str, Any], open_article: "Opener", least: int) -> None:
        self.item, self.open_article, self.least = item, open_article, least
        self.searches: list[str] = []
        self.opened: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.evidence: list[dict[str, Any]] = []

    def _look(self, query: str) -> list[Mapping[str, Any]]:
        """Search, open the first results one after the other, and return their passages."""
        self.searches.append(query)
        found = self.open_article(self.item["id"], query) or {"results": []}
        passages = []
        for result in found["results"][:LOOKED_AT]:
            name = f"{result['document']}#{result['paragraph']}"
            passage = self.open_article(self.item["id"], name)
            if passage is not None:
                passages.append(passage)
                self.opened.append(
                    {"document": result["document"], "paragraph": result["paragraph"]}
                )
        return passages

    def find_about(self, about: str) -> None:
        """Add the first words of the first passage found as an answer."""
        for passage in self._look(about)[:1]:
            words = [token for token in passage["tokens"] if token[2]][:FIRST]
            if words:
                start, end = words[0][0], words[-1][1]
                self.said.append(passage["text"][start:end])
                self.evidence.append(_piece(passage, start, end))

    def find_between(self, left: str, right: str) -> None:
        """Add the text between two quotes as an answer, from the first passage that has both."""
        pattern = re.compile(f"{re.escape(left)}(.+?){re.escape(right)}", re.DOTALL)
        for passage in self._look(f"{left} {right}"):
            text = passage["text"]
            # A match that begins or ends inside a word is skipped: the page refuses such a mark.
            places = [
                place
                for place in pattern.finditer(text)
                if not any(is_inside_word(text, at) for at in place.span())
            ]
            if places:
                found = min(places, key=lambda place: place.end() - place.start())
                self.said.append(found[1].strip())
                self.evidence.append(_piece(passage, *found.span()))
                return

    def answer(self, type: str, reason: str = "") -> dict[str, object]:
        """Return the answer to hand in; for "none", make the required number of searches first."""
        is_answer = type == "answer"
        while type == "none" and len(set(self.searches)) < self.least:
            self._look(f"{self.item['question'][:60]} {len(self.searches)}")
        said = "; ".join(self.said)
        return {
            "item": self.item["id"],
            "type": type,
            "short": said[:110].strip() if is_answer else "",
            "full": f"It says {said[:1000]}." if is_answer else "",
            "evidence": self.evidence if is_answer else [],
            "reason": reason,
            "searches": list(dict.fromkeys(self.searches)),
            "opened": self.opened,
        }
