"""Form HITs: workers write texts, answer in their own words, or label what others wrote.

The form is given as data by the protocol.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import orjson
from django.db.models import QuerySet

from collector.models import Seed, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import FormTable
from common.prepared_sql import execute
from tasks.models import Answer, Lease, Question, Submission, Unit, UnitItem
from tasks.work.kinds.kind import Data, Documents, Item, StageKind, table_as
from tasks.work.kinds.voting import (
    WORDS,
    VotingKind,
    answer_text,
    questions_shown,
    store_votes,
    type_words,
)
from tasks.work.kinds.writing import WritingKind, seeds_of, store_questions
from tasks.work.passages import passages_of
from tasks.work.widgets import form
from tasks.work.widgets.problems import Problem

ANSWERS = """
SELECT item.position, answer.type, answer.payload
FROM tasks_unititem item
JOIN tasks_answer answer ON answer.question_id = item.question_id
JOIN collector_stage stage ON stage.id = answer.stage_id
WHERE item.unit_id = %s AND stage.name = %s AND answer.corrected_by = ''
ORDER BY item.position, answer.id
"""


IN_A_TRIAL = 3
# What stands on the page where nobody has written anything yet, or no passage was chosen.
NOBODYS_TEXT = "Here stands what somebody wrote about the text below."
NOBODYS_ANSWER = "Here stands an answer."
NOBODYS_PASSAGE: Item = {
    "title": "A title of your corpus",
    "section": "",
    "about": "",
    "text": "Here stands a text of your corpus, once seeds are chosen.",
    "lang": "en",
    "dir": "ltr",
    "links": [],
    "sentences": [],
}


class CleanedEntry(TypedDict):
    """A filled-in form about one item: what was written or chosen, by field, in their order."""

    item: str
    fields: dict[str, str]


class FormKind(StageKind):
    """A kind whose page is a form that the protocol gives as data, once for each item."""

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the form's fields, how many items there are, and whether there are labels."""
        form_table = table_as(table, FormTable)
        return {
            "items": table.items_per_hit,
            "fields": form_table.model_dump()["fields"],
            "choices": any(field.choices for field in form_table.fields),
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"entries": […]}, one per item, and what is wrong."""
        return form.clean(data, items, table_as(table, FormTable).fields)

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many forms of a draft somebody has begun."""
        return form.n_begun(data)


def filled_in(data: Data) -> list[tuple[str, str, Mapping[str, object]]]:
    """Return (item id, what stands in the first field, payload of the others) of each entry."""
    found: list[tuple[str, str, Mapping[str, object]]] = []
    for entry in cast(Sequence[CleanedEntry], data["entries"]):
        (_, first), *others = entry["fields"].items()
        found.append((entry["item"], first, {"fields": dict(others)}))
    return found


class TextKind(FormKind, WritingKind):
    """Texts about passages, by a form that the protocol gives as data."""

    name = "text"

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the passages as plain text."""
        seeds = seeds_of(unit.pk)
        passages = passages_of(seed for seed, _ in seeds.values())
        return [
            {"id": item, "passage": {**passages[seed], "links": []}}
            for item, (seed, _) in seeds.items()
        ]

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per text, the other fields beside it; expects the transaction."""
        store_questions(submission, filled_in(data))


class FreeAnswerKind(FormKind, VotingKind):
    """Answers in free words to questions that others wrote, each a vote."""

    name = "free_answer"

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each question with its passage, and neither who asked nor what they answered."""
        items = questions_shown(unit)
        passages = passages_of(seed for _, seed, _, _ in items)
        return [
            {"id": item, "text": text, "passage": {**passages[seed], "links": []}}
            for item, seed, text, _ in items
        ]

    def store(self, submission: Submission, data: Data) -> None:
        """Write one vote per question, all fields beside it; expects the transaction.

        How the answers of several people agree is the protocol's to say.
        """
        entries = cast(Sequence[CleanedEntry], data["entries"])
        store_votes(
            submission, [(entry["item"], WORDS, {"fields": entry["fields"]}) for entry in entries]
        )


class LabelKind(FormKind, VotingKind):
    """Labels of texts that others wrote, each a vote."""

    name = "label"

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each text with its passage, and never who wrote it.

        Where the stage takes up what another has answered, the answers stand beside it: the
        writer's own, if there is one, and those of the other people.
        """
        items = questions_shown(unit)
        found = _shown(items)
        if answering := _answering(unit.stage):
            others = _answers(unit, answering)
            for shown, (item, _, _, payload) in zip(found, items, strict=True):
                shown["answers"] = [*_own(payload, answering), *others.get(item, ())]
        return found

    def trial_items(self, stage: Stage) -> list[Item]:
        """Return what to try the page with: texts that are there, else passages, else invented."""
        answering = _answering(stage)
        questions = list(_written(stage)[:IN_A_TRIAL])
        if not questions:
            return _invented(stage, [NOBODYS_ANSWER] if answering else [])
        found = _shown([(str(n), each.seed_id, each.text, {}) for n, each in enumerate(questions)])
        for item, question in zip(found, questions, strict=True):
            if answering:
                given = question.answers.filter(stage__name=answering.stage, corrected_by="")
                others = [_words(answer, answering) for answer in given.order_by("pk")]
                item["answers"] = sum(others, _own(question.payload, answering))
        return found

    def page_state(self, lease: Lease) -> dict[str, object]:
        """Return how many items of the stage the worker has labelled, and how many there are.

        Counted once for the page, whatever their number; what is done on the page comes on top.
        """
        done = Answer.objects.filter(stage=lease.unit.stage_id, worker=lease.worker_id)
        items = UnitItem.objects.filter(unit__stage=lease.unit.stage_id)
        return {"running": {"done": done.count(), "of": items.count()}}

    def store(self, submission: Submission, data: Data) -> None:
        """Write one vote per text: its type is the label, the other fields stand beside it.

        A vote is a row of answers, so that agreement, review, release and the rule of one vote per
        person hold for labels as they do for answers. Expects the transaction of the submission.
        """
        store_votes(submission, filled_in(data))


@dataclass(frozen=True)
class Answering:
    """The stage whose answers are labelled with the questions, and its field that is the answer.

    `field` is blank where answers are no free words.
    """

    stage: str
    field: str


def _answering(stage: Stage) -> Answering | None:
    """Return where the label stage's items were answered, None where they were only written."""
    stages: Mapping[str, StageTable] = parameters_of(stage.collection).stages()
    name = stages[stage.name].items_from
    table = stages[name]
    if table.items_from == "seeds":
        return None
    return Answering(name, table.fields[0].name if isinstance(table, FormTable) else "")


def _own(payload: Mapping[str, Any], answering: Answering) -> list[str]:
    """Return the answer of who asked, where they were asked for one."""
    own = (payload.get("fields") or {}).get(answering.field)
    return [own] if own else []


def _answers(unit: Unit, answering: Answering) -> dict[str, list[str]]:
    """Return the answers of other people, as words, by the item's id on the page."""
    found: dict[str, list[str]] = {}
    for position, kind, payload in execute(ANSWERS, [unit.pk, answering.stage]):
        given = Answer(type=kind, payload=orjson.loads(payload))
        found.setdefault(str(position), []).extend(_words(given, answering))
    return found


def _words(given: Answer, answering: Answering) -> list[str]:
    """Return an answer as labellers read it."""
    return _own(given.payload, answering) or [answer_text(given) or type_words(given.type)]


def _shown(rows: Sequence[tuple[str, int, str, object]]) -> list[Item]:
    """Return (item id, seed id, text, payload) as the page shows it."""
    passages = passages_of(seed for _, seed, _, _ in rows)
    return [
        {"id": item, "text": text, "passage": {**passages[seed], "links": []}}
        for item, seed, text, _ in rows
    ]


def _written(stage: Stage) -> QuerySet[Question]:
    """Return what was written that the stage's items come from in the end."""
    stages: Mapping[str, StageTable] = parameters_of(stage.collection).stages()
    name = stages[stage.name].items_from
    while stages[name].items_from != "seeds":
        name = stages[name].items_from
    written = Question.objects.filter(stage__collection=stage.collection_id, stage__name=name)
    return written.order_by("pk")


def _invented(stage: Stage, answers: list[str]) -> list[Item]:
    """Return items about the stage's seeds, or about nothing, that nobody has written."""
    seeds = Seed.objects.filter(collection=stage.collection_id).order_by("pk")
    chosen = seeds.values_list("pk", flat=True)[:IN_A_TRIAL]
    found = _shown([(str(place), seed, NOBODYS_TEXT, {}) for place, seed in enumerate(chosen)])
    if not found:
        shown = {"text": NOBODYS_TEXT, "passage": NOBODYS_PASSAGE}
        found = [{"id": str(place), **shown} for place in range(IN_A_TRIAL)]
    return [{**item, "answers": answers} for item in found] if answers else found
