"""Finds out what taking in old results would do, and what keeps a result out; changes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from annotation.mturk_import.columns import Columns, Item, check_columns
from annotation.mturk_import.items import paragraphs_of
from annotation.mturk_import.result_files import Result
from collector.models import Corpus
from collector.models.corpus import CorpusKind
from collector.protocols.loading import Protocol
from collector.protocols.parameters import Parameters
from collector.protocols.stage_tables import FormTable, LabelTable, TextTable
from common.actions import ActionError
from tasks.models import Session, UnitItem
from tasks.models.people import ARCHIVE
from tasks.work.kinds.kind import Data, protocol_problems
from tasks.work.kinds.kind import Item as PageItem
from tasks.work.kinds.registry import kind_of


@dataclass(frozen=True)
class Work:
    """One result with its items, and the cleaned data as a page would have sent it."""

    result: Result
    items: list[Item]
    data: Data


@dataclass
class Plan:
    """What would be stored; `left_out` are (place, why), `n_known` were stored before."""

    works: list[Work] = field(default_factory=list)
    n_known: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)


def form_of(parameters: Parameters, stage_name: str) -> FormTable:
    """Return the table of a stage whose results can be taken in; raises ActionError."""
    stages = parameters.stages()
    table = stages.get(stage_name)
    if table is None:
        raise ActionError(f"There is no stage {stage_name!r}; known: {', '.join(stages)}.")
    source = stages.get(table.items_from)
    is_first = isinstance(table, TextTable) and table.items_from == "seeds"
    is_second = (
        isinstance(table, LabelTable) and source is not None and source.items_from == "seeds"
    )
    if not isinstance(table, FormTable) or table.qualifies or not (is_first or is_second):
        raise ActionError(
            f"Results of the stage {stage_name!r} (of the kind {table.kind!r}) cannot be taken in: "
            "only texts written about passages can, and labels given to such texts."
        )
    return table


def plan(
    results: Sequence[Result],
    columns: Columns,
    protocol: Protocol,
    parameters: Parameters,
    table: FormTable,
    corpus: Corpus | None,
    environment: str,
) -> Plan:
    """Return what taking in the results would do; raises ActionError for a wrong mapping."""
    needed = ["passage"] + (["text"] if isinstance(table, LabelTable) else [])
    needed += [each.name for each in table.fields if each.required]
    check_columns(columns, results, needed)
    known = known_ids(environment)
    made, shown = Plan(), _shown_before(environment)
    all_items = [columns.items(result) for result in results]
    missing = _not_there(chain.from_iterable(all_items), corpus)
    for result, items in zip(results, all_items, strict=True):
        if result.assignment_id in known:
            made.n_known += 1
            continue
        data, why = _examined(items, protocol, parameters, table)
        if not why and (lost := [item.passage for item in items if item.passage in missing]):
            why = f"The corpus has no paragraph {lost[0][:60]!r}: name a new corpus for it."
        same = [(item.passage, item.text) for item in items]
        if not why and shown.setdefault(result.hit_id, same) != same:
            why = "It shows other items than the same HIT did before: give the HIT's own inputs."
        if why:
            made.left_out.append((result.place, why))
            continue
        known.add(result.assignment_id)
        made.works.append(Work(result, items, data))
    return made


def known_ids(environment: str) -> set[str]:
    """Return the ids of the assignments that were taken in before."""
    rows = Session.objects.filter(provider=ARCHIVE, environment=environment)
    return set(rows.values_list("session_id", flat=True))


def _shown_before(environment: str) -> dict[str, list[tuple[str, str]]]:
    """Return what each HIT that was taken in before showed: passage and text of each item."""
    rows = UnitItem.objects.filter(
        unit__leases__session__provider=ARCHIVE, unit__leases__session__environment=environment
    )
    # A seed's first paragraph is its passage: it comes last, and stays.
    of_seed = "seed__seed_paragraphs__position"
    rows = rows.order_by(f"-{of_seed}", f"-question__{of_seed}")
    found: dict[str, dict[int, tuple[str, str]]] = {}
    for hit, position, own, of_text, text in rows.values_list(
        "unit__leases__session__posting__external_id",
        "position",
        "seed__seed_paragraphs__paragraph__text",
        "question__seed__seed_paragraphs__paragraph__text",
        "question__text",
    ):
        found.setdefault(hit, {})[position] = (own or of_text, text or "")
    return {hit: [items[at] for at in sorted(items)] for hit, items in found.items()}


def _examined(
    items: list[Item], protocol: Protocol, parameters: Parameters, table: FormTable
) -> tuple[Data, str]:
    """Return the data that a page would keep, and the first thing it would refuse."""
    if not items:
        return {}, "There is no passage: give what the HIT showed, with --inputs for a dump."
    if isinstance(table, LabelTable) and not all(item.text for item in items):
        return {}, "The text that was labelled is missing: name its column with --map text=COLUMN."
    page: list[PageItem] = [
        {
            "id": str(index),
            "text": item.text,
            "passage": {"title": item.title, "text": item.passage, "links": []},
        }
        for index, item in enumerate(items)
    ]
    sent = [{"item": str(index), "fields": item.fields} for index, item in enumerate(items)]
    data, problems = kind_of(table).clean({"entries": sent}, page, _no_article, table, parameters)
    asked = protocol_problems(protocol.name, data, page, table, parameters)
    problems += [problem for problem in asked if not problem.hint]
    return data, problems[0].message if problems else ""


def _no_article(item: str, title: str) -> None:
    """Return nothing: old results name no articles."""


def _not_there(items: Iterable[Item], corpus: Corpus | None) -> set[str]:
    """Return the passages that a wiki's corpus does not have; to another one they are added."""
    if corpus is None or corpus.kind == CorpusKind.IMPORTED:
        return set()
    texts = {item.passage for item in items}
    return texts - set(paragraphs_of(corpus, texts))
