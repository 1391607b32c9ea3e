"""Answer HITs: workers open linked articles and answer what others asked."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import WritingChecks
from tasks.models import Unit
from tasks.work.kinds.kind import Data, Documents, Item, checks_as
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.passages import passages_of, readable_titles
from tasks.work.widgets import answer
from tasks.work.widgets.problems import Problem


class Link(TypedDict):
    """A link of a passage, by the title of the article that it leads to."""

    title: str


class LinkedPassage(TypedDict):
    """What is read here of a passage: its links."""

    links: list[Link]


class ShownQuestion(TypedDict):
    """What is read here of a question on the page: its id and its passage."""

    id: str
    passage: LinkedPassage


class AnswerKind(VotingKind):
    """Answers of five types, proven by the passage and by the articles it links to."""

    name = "answer"
    correction_types = ("span", "value", "binary", "none")

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each question with its passage, the writer's evidence and links."""
        items = questions_shown(unit)
        passages = passages_of(seed for _, seed, _, _ in items)
        titles = {link["title"] for passage in passages.values() for link in passage["links"]}
        readable = readable_titles(unit.stage.collection.corpus_id, titles)
        for passage in passages.values():
            for link in passage["links"]:
                link["readable"] = link["title"] in readable
        return [
            {
                "id": item,
                "question": text,
                "passage": passages[seed],
                "writer_context": payload["context"],
                "writer_links": payload["links"],
            }
            for item, seed, text, payload in items
        ]

    def readable_links(self, items: Sequence[Item]) -> dict[str, set[str]]:
        """Return by item id the titles that its passage links to."""
        shown = cast(Sequence[ShownQuestion], items)
        return {item["id"]: {link["title"] for link in item["passage"]["links"]} for item in shown}

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, WritingChecks)
        return {
            "questions": table.items_per_hit,
            "max_reason_characters": checks.max_reason_characters,
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"answers": […]}, one per item, with every span proven, and what is wrong."""
        checks = checks_as(parameters, WritingChecks)
        return answer.clean_all(
            data, items, documents, most_reason_characters=checks.max_reason_characters
        )

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return the type of the answer."""
        return {"answer type": type}
