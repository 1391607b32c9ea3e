"""Real questions, read from an official file, written once more about the pairs they are about."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.simulation.behaviour import Behaviour
from tasks.simulation.simulated_contract import RealWork

YES_NO = ("yes", "no")
# Real questions are taken as they are.
LAX: dict[str, Any] = {
    "checks.min_question_words": 1,
    "checks.max_question_characters": 100_000,
    "checks.max_answer_words": 1_000,
    "checks.question_mark": False,
}


@dataclass(frozen=True)
class Gold:
    """A paragraph as the file cuts it: sentences keep the blank before them."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the whole text."""
        return "".join(self.sentences)

    def boundaries(self) -> list[list[int]]:
        """Return where its sentences begin and end, without the white space between them."""
        found, at = [], 0
        for sentence in self.sentences:
            start = at + len(sentence) - len(sentence.lstrip())
            found.append([start, max(start, at + len(sentence.rstrip()))])
            at += len(sentence)
        return found


@dataclass(frozen=True)
class WrittenQuestion:
    """One question with its answer and facts, about a pair of paragraphs."""

    question: str
    answer: str
    type: str
    pair: tuple[Gold, Gold]
    facts: tuple[tuple[int, int], ...]

    @property
    def form(self) -> str:
        """Return the form that a question with this answer was asked for in."""
        if self.answer in YES_NO:
            return "yes_no"
        return "span" if self.type == "comparison" else "any"


@dataclass(frozen=True)
class Replay(RealWork):
    """The questions of one file, each about a pair of its own."""

    questions: tuple[WrittenQuestion, ...]
    stages = ("question",)

    @property
    def n_seeds(self) -> int:
        """Return how many pairs there are."""
        return len(self.questions)

    def kinds_of(self, number: int) -> tuple[str, ...]:
        """Return the kinds of stages that worker `number` works on."""
        return ("pair",)

    def overrides(self) -> dict[str, Any]:
        """Return the parameters of a collection that takes each question as it is."""
        return {**LAX, "question.bonuses.top_cents": [], "question.bonuses.paces": []}

    def cost_cents(self, parameters: Any) -> int:
        """Return an ample budget."""
        return 2 * int(parameters.question.reward_cents) * self.n_seeds

    def pages(self) -> list[tuple[str, list[tuple[str, str, list[list[Any]]]]]]:
        """Return the corpus: each paragraph of a pair as the first one of its article."""
        return [(gold.title, [("", gold.text, [])]) for gold in self._paragraphs().values()]

    def sentences(self) -> dict[str, list[list[int]]]:
        """Return by title the boundaries of the sentences as the file has them."""
        return {title: gold.boundaries() for title, gold in self._paragraphs().items()}

    def seeds(self) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        """Return the pair of every question: the titles, and what the seed's payload says."""
        return [
            (
                tuple(gold.title for gold in one.pair),
                {"type": one.type, "form": one.form, "set": "replay"},
            )
            for one in self.questions
        ]

    def _paragraphs(self) -> dict[str, Gold]:
        return {gold.title: gold for one in self.questions for gold in one.pair}

    def fill(
        self, page: Mapping[str, Any], behaviour: Behaviour, rng: random.Random, open_article: Any
    ) -> tuple[dict[str, Any], bool]:
        """Return the page's data, all of it real; raises ValueError for a pair without question."""
        return {"pairs": [self._typed(item) for item in page["items"]]}, True

    def _typed(self, item: Mapping[str, Any]) -> dict[str, Any]:
        shown = [(one["title"], one["text"]) for one in item["paragraphs"]]
        for one in self.questions:
            asked = one.form, one.type
            if [(g.title, g.text) for g in one.pair] == shown and asked == (
                item["form"],
                item["type"],
            ):
                return {
                    "item": item["id"],
                    "text": one.question,
                    **_answered(one.answer, item["paragraphs"]),
                    "facts": [list(fact) for fact in one.facts],
                    "skipped": False,
                    "reason": "",
                }
        raise ValueError(f"The file has no question about {shown[0][0]} and {shown[1][0]}.")


def _answered(answer: str, paragraphs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the answer as the page sends it: the first place where it covers whole tokens."""
    if answer in YES_NO:
        return {"type": answer, "spans": []}
    for paragraph in paragraphs:
        starts = {token[0] for token in paragraph["tokens"]}
        ends = {token[1] for token in paragraph["tokens"]}
        at = paragraph["text"].find(answer)
        while at >= 0:
            if at in starts and at + len(answer) in ends:
                span = {"document": paragraph["document"], "start": at, "end": at + len(answer)}
                return {"type": "span", "spans": [span]}
            at = paragraph["text"].find(answer, at + 1)
    raise ValueError(f"“{answer}” stands nowhere in its pair as whole words.")


def read_replay(path: Path) -> Replay:
    """Return the replay of an official file with gold paragraphs; raises ValueError naming it."""
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path}: it cannot be read ({error.strerror}).") from None
    except ValueError:
        raise ValueError(f"{path.name}: it is no JSON.") from None
    if not isinstance(found, list) or not found:
        raise ValueError(f"{path.name}: it must be a list of questions.")
    return Replay(tuple(_written(one, path.name, number) for number, one in enumerate(found)))


def _written(one: Any, name: str, number: int) -> WrittenQuestion:
    """Return an item of the file; raises ValueError for one without its two paragraphs."""
    try:
        context = {title: tuple(sentences) for title, sentences in one["context"]}
        titles = list(dict.fromkeys(title for title, _ in one["supporting_facts"]))
        first, second = (Gold(title, context[title]) for title in titles)
        facts = tuple((titles.index(title), sent) for title, sent in one["supporting_facts"])
        return WrittenQuestion(
            one["question"], one["answer"], one["type"], (first, second), tuple(sorted(facts))
        )
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"{name}: item {number} lacks its answer, its type or one of its two paragraphs."
        ) from None
