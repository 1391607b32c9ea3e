"""Real work, read from public files, typed once more into the pages it was made for."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.protocols.iirc.dataset_tree import LayoutError
from annotation.protocols.iirc.parsing import parse
from annotation.protocols.iirc.simulation.answering import Opener, answer
from annotation.protocols.iirc.simulation.documents import Documents, laid_out
from annotation.protocols.iirc.simulation.official_questions import passages_of, rewritten
from annotation.protocols.iirc.simulation.real_work import Passage, Question
from annotation.protocols.iirc.simulation.writing import write
from tasks.simulation.simulated_contract import RealWork

# A HIT of more questions than this is no page that anybody could have worked on.
MOST_QUESTIONS = 100
MISSING = "(The file holds no text of this article.)"
LAX = {
    "seeds.min_links": 1,
    "seeds.min_links_in_corpus": 0,
    "seeds.min_characters": 0,
    "seeds.max_characters": 1_000_000,
    "question.requires": "",
    "answer.requires": "",
    "question_qualification.multi_link_questions": 0,
    "question.multi_link_questions": 0,
    "checks.min_question_words": 1,
    "checks.max_question_characters": 100_000,
    "checks.max_answer_spans": 1000,
    "checks.max_evidence_spans": 1000,
}


@dataclass(frozen=True)
class Replay(RealWork):
    """The work in one file; `exact` tells that the file holds all of it, nothing is added."""

    passages: tuple[Passage, ...]
    exact: bool
    stages = ("question", "answer")

    @property
    def n_seeds(self) -> int:
        """Return how many passages there are."""
        return len(self.passages)

    def kinds_of(self, number: int) -> tuple[str, ...]:
        """Return the kinds of stages that worker `number` works on, counted from 0.

        A small crowd is not stopped by what each of them has written.
        """
        return (self.stages[number % 2],)

    def cost_cents(self, parameters: Any) -> int:
        """Return an ample budget."""
        rewards = (parameters.stages()[name].reward_cents for name in self.stages)
        return 2 * sum(rewards) * self.n_seeds

    def overrides(self) -> dict[str, Any]:
        """Return the parameters of a collection whose HITs ask for what the file holds, once.

        Raises ValueError where the passages cannot be shared out to equal HITs.
        """
        counts = {len(passage.questions) for passage in self.passages}
        total = sum(len(passage.questions) for passage in self.passages)
        per_hit, size = (1, counts.pop()) if len(counts) == 1 else (self.n_seeds, total)
        if size > MOST_QUESTIONS:
            raise ValueError(
                f"The passages hold different numbers of questions, {total} in all: "
                f"replay passages with {MOST_QUESTIONS} questions at most at a time."
            )
        sizes = {"question.items_per_hit": per_hit, "question.questions_per_hit": size}
        once = {
            f"{stage}.redundancy.{fold}": 1
            for stage in ("question", "answer")
            for fold in ("train", "dev", "test")
        }
        return {**LAX, **sizes, **once}

    def pages(self) -> list[tuple[str, list[tuple[str, str, list[list[Any]]]]]]:
        """Return the corpus: (title, paragraphs), each without heading, a text, its links.

        Passages come with their links; of a linked article what the file quotes, at the places
        where the file says it stands, the gaps filled with dots.
        """
        pages = [
            (passage.title, [("", passage.text, [list(link) for link in passage.links])])
            for passage in self.passages
        ]
        merged: dict[str, list[tuple[str, str, list[list[Any]]]]] = {}
        for title, paragraphs in pages:
            merged.setdefault(title, []).extend(paragraphs)
        quoted: dict[str, list[tuple[int, str]]] = {}
        for passage in self.passages:
            for title in [title for _, _, title in passage.links]:
                quoted.setdefault(title, []).extend(passage.quotations(title))
        for title, pieces in quoted.items():
            if title not in merged:
                merged[title] = [("", text, []) for text in laid_out(pieces) or [MISSING]]
        return list(merged.items())

    def fill(
        self, page: Mapping[str, Any], behaviour: Any, rng: random.Random, open_article: Opener
    ) -> tuple[dict[str, Any], bool]:
        """Return the page's data, and whether all of it is real; the rest is simulated."""
        if page["kind"] == "question":
            real = [
                question.typed(item)
                for item in page["items"]
                for question in self._questions_on(item)
            ][: page["limits"]["questions"]]
            added = write(page, behaviour, rng, real)
            return {"questions": [*real, *added]}, self.exact and not added
        answers: list[dict[str, Any]] = []
        all_real = self.exact
        for item in page["items"]:
            question = self._question(item)
            if question is None:
                all_real = False
                answers.append(answer(item, behaviour, rng, open_article))
            else:
                documents = Documents(item, open_article)
                answers.append({"item": item["id"], **question.answered(item, documents)})
        return {"answers": answers}, all_real

    def _questions_on(self, item: Mapping[str, Any]) -> Sequence[Question]:
        text = item["text"].strip()
        return [
            question
            for passage in self.passages
            if passage.text.strip() == text
            for question in passage.questions
        ]

    def _question(self, item: Mapping[str, Any]) -> Question | None:
        asked = " ".join(item["question"].split())
        for question in self._questions_on(item["passage"]):
            if " ".join(question.text.split()) == asked:
                return question
        return None


def replay(path: Path) -> Replay:
    """Return the replay of an official file, or of one that quotes questions with paragraphs.

    Raises LayoutError, a ValueError, naming the file for anything else.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LayoutError(f"{path}: it cannot be read ({error.strerror}).") from None
    found = parse(path.name, content)
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise LayoutError(f"{path.name}: it must be a list of passages with their questions.")
    if all("main_paragraph" in one for one in found):
        return Replay(tuple(rewritten(one, path.name) for one in found), exact=False)
    return Replay(passages_of(path.name, content), exact=True)
