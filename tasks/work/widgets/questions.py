"""A list of questions, each about one passage, with its evidence and its links."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.work.widgets import links, passages, spans, text
from tasks.work.widgets.problems import Problem


def clean(
    raw: object,
    items: Sequence[Mapping[str, Any]],
    *,
    most_questions: int,
    most_characters: int = 1000,
) -> tuple[dict[str, list[dict]], list[Problem]]:
    """Return {"questions": [{"item", "text", "context", "links"}]} and what cannot be read of it.

    raw: the same shape as the page sends it; items: what the page showed, each with "id", "text"
    and "links". How many questions there must be, and what a good one needs, is for the protocol
    to say: an unfinished question comes back unfinished. One about no paragraph of this page is
    left out.
    """
    sent = raw.get("questions") if isinstance(raw, dict) else None
    if not isinstance(sent, list):
        unread = Problem("The questions could not be read: reload the page; they are kept.")
        return {"questions": []}, [unread]
    problems = []
    if len(sent) > 2 * most_questions:
        excess = f"There are {len(sent)} questions: keep {most_questions}."
        problems.append(Problem(excess))
    questions = []
    by_id = {item["id"]: item for item in items}
    for index, entry in enumerate(sent[: 2 * most_questions]):
        question, found = clean_one(entry, by_id, most_characters=most_characters)
        if question["item"] is not None:
            questions.append(question)
        problems += [replace(problem, index=index) for problem in found]
    return {"questions": questions}, problems


def clean_one(
    raw: object, items: Mapping[str, Mapping[str, Any]], *, most_characters: int
) -> tuple[dict, list[Problem]]:
    """Return one question and what cannot be read of it; items: by id.

    `context` are spans of the passage; `item` is None for a passage that is not of this page.
    """
    entry = raw if isinstance(raw, dict) else {}
    item, problems = passages.clean(entry.get("item"), items)
    words, more = text.clean(entry.get("text"), most_characters=most_characters)
    problems += more
    if item is None:
        return {"item": None, "text": words, "context": [], "links": []}, problems
    texts = {spans.MAIN: items[item]["text"]}
    context, more = spans.clean(entry.get("context"), texts.get, field="context")
    problems += more
    titles = {link["title"] for link in items[item]["links"]}
    picked, more = links.clean(entry.get("links"), titles)
    problems += more
    return {"item": item, "text": words, "context": context, "links": picked}, problems
