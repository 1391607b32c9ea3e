"""Cleans answers in two lengths with their evidence: marked words in passages of a corpus."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from collector.protocols.stage_tables import EvidenceChecks
from tasks.work.widgets import choice, spans, text
from tasks.work.widgets.marked import UNSPACED
from tasks.work.widgets.problems import Cleaned, Problem, clean_all
from tasks.work.widgets.problems import PageItem as Item
from tasks.work.widgets.words import n_words

# From (document, place in it) to a passage's text; None if no such passage may be cited.
TextOf = Callable[[str, int], str | None]
FIELD = "evidence"
# The most searches, and the most opened passages, that are stored; more add nothing new.
MOST_LOGGED = 200
# The length of the columns for a document's id and an article's title.
MOST_NAME = 300
# Two letters or digits of a script that writes blanks between words: no word ends between them.
_INSIDE = re.compile(rf"[^\W{UNSPACED}]{{2}}")
ELSEWHERE = "A mark is in a passage that does not belong to this question: take it off."
CUT = "A mark cuts through a word: mark whole words."
CATEGORY = "Choose a type of question."
TYPE = "Answer the question, or say that the documents do not."

# What is stored of a skipped set besides the reason.
_NOTHING: dict[str, Any] = {
    "text": "",
    "category": None,
    "type": None,
    "short": "",
    "full": "",
    "evidence": [],
}


def is_inside_word(text: str, at: int) -> bool:
    """Return whether a mark that begins or ends at this place cuts through a word."""
    return _INSIDE.fullmatch(text[max(0, at - 1) : at + 1]) is not None


def clean(
    raw: object, text_of: TextOf, *, most: int, most_words: int
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Return the pieces of evidence, and the problems with any of them.

    Each is {"document", "paragraph", "start", "end", "text"}: offsets in code points into the
    passage, half-open. The text is always taken from the passage.
    """
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Problem("The marks could not be read: mark the words again.", field=FIELD)]
    problems = []
    if len(raw) > most:
        sentence = f"There are {len(raw)} marks: keep {most} or fewer."
        problems.append(Problem(sentence, field=FIELD))
    found: list[dict[str, Any]] = []
    for entry in raw[:most]:
        piece, wrong = _piece(entry, text_of, most_words)
        problems += wrong
        if piece is not None and piece not in found:
            found.append(piece)
    return found, list(dict.fromkeys(problems))


def _piece(
    entry: object, text_of: TextOf, most_words: int
) -> tuple[dict[str, Any] | None, list[Problem]]:
    place = _place(entry)
    passage = None if place is None else text_of(*place)
    if not isinstance(entry, dict) or place is None or passage is None:
        return None, [Problem(ELSEWHERE, field=FIELD)]
    marked = {name: entry[name] for name in ("start", "end", "text") if name in entry}
    found, problems = spans.clean([marked], {spans.MAIN: passage}.get, field=FIELD)
    if not found:
        return None, problems
    start, end, words = found[0]["start"], found[0]["end"], found[0]["text"]
    if any(is_inside_word(passage, at) for at in (start, end)):
        problems.append(Problem(CUT, field=FIELD))
    number = n_words(words)
    if number > most_words:
        sentence = f"A mark has {number} words: mark {most_words} or fewer at a time."
        problems.append(Problem(sentence, field=FIELD))
    named = {"document": place[0], "paragraph": place[1]}
    return {**named, "start": start, "end": end, "text": words}, problems


def _place(entry: object) -> tuple[str, int] | None:
    """Return the document and the place in it that an entry names, if it names any."""
    if not isinstance(entry, dict):
        return None
    document, paragraph = entry.get("document"), entry.get("paragraph")
    if not isinstance(document, str) or type(paragraph) is not int or paragraph < 0:
        return None
    return document, paragraph


def clean_written(
    raw: object, items: Sequence[Item], checks: EvidenceChecks, categories: Collection[str]
) -> Cleaned:
    """Return {"questions": […]}, one for each item in order, and the problems.

    Each is {"item", "text", "category", "type", "short", "full", "evidence", "skipped", "reason"}.
    `type` is "answer", "none" or None. "none" means that the passages only seem to answer the
    question; then `evidence` is what looks like an answer. Of a skipped set only the reason is
    kept.
    """

    def written(entry: dict[str, Any], item: Item) -> Cleaned:
        if entry.get("skipped") is True:
            reason, problems = _words(entry, "reason", checks.max_reason_characters)
            return {**_NOTHING, "skipped": True, "reason": reason}, problems
        texts = {(one["document"], one["paragraph"]): one["text"] for one in item["paragraphs"]}
        question, problems = _words(entry, "text", checks.max_question_characters, "question")
        category, found = choice.clean(
            entry.get("category"),
            categories,
            field="category",
            request="Choose a type of question.",
        )
        problems += found
        given, found = _answered(entry, lambda *place: texts.get(place), checks, ("answer", "none"))
        questioned = {"text": question, "category": category}
        return {**questioned, **given, "skipped": False, "reason": ""}, problems + found

    return clean_all(raw, "questions", "question", items, written)


def clean_answered(
    raw: object,
    items: Sequence[Item],
    text_of: Callable[[str, str, int], str | None],
    checks: EvidenceChecks,
) -> Cleaned:
    """Return {"answers": […]}, one for each item in order, and the problems.

    Each is {"item", "type", "short", "full", "evidence", "reason", "searches", "opened"}; `type`
    is "answer", "none", "bad" or None. text_of: (item id, document, place in it) → text.
    """

    def answered(entry: dict[str, Any], item: Item) -> Cleaned:
        given, problems = _answered(
            entry, lambda *place: text_of(item["id"], *place), checks, ("answer", "none", "bad")
        )
        reason = ""
        if given["type"] == "bad":
            reason, found = _words(entry, "reason", checks.max_reason_characters)
            problems += found
        if given["type"] != "answer":
            given["evidence"] = []
        looked = {"searches": _searches(entry, checks), "opened": _opened(entry)}
        return {**given, "reason": reason, **looked}, problems

    return clean_all(raw, "answers", "question", items, answered)


def _answered(
    entry: dict[str, Any], text_of: TextOf, checks: EvidenceChecks, types: Sequence[str]
) -> Cleaned:
    kind, problems = choice.clean(entry.get("type"), types, field="answer", request=TYPE)
    short = full = ""
    if kind in (None, "answer"):
        short, found = _words(entry, "short", checks.max_short_characters, "short answer")
        full, more = _words(entry, "full", checks.max_full_characters, "full answer")
        problems += found + more
    evidence, found = clean(
        entry.get("evidence"),
        text_of,
        most=checks.max_evidence,
        most_words=checks.max_evidence_words,
    )
    return {"type": kind, "short": short, "full": full, "evidence": evidence}, problems + found


def _words(
    entry: dict[str, Any], field: str, most: int, name: str = ""
) -> tuple[str, list[Problem]]:
    return text.clean(entry.get(field), field=field, name=name or field, most_characters=most)


def _searches(entry: dict[str, Any], checks: EvidenceChecks) -> list[str]:
    """Return the searches in order, without those that cannot be read."""
    sent = entry.get("searches")
    kept = sent[:MOST_LOGGED] if isinstance(sent, list) else []
    words = (text.clean(one, most_characters=checks.max_query_characters) for one in kept)
    return [query for query, problems in words if query and not problems]


def _opened(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the opened passages in order, without those that cannot be read."""
    sent = entry.get("opened")
    kept = [_place(one) for one in sent[:MOST_LOGGED]] if isinstance(sent, list) else []
    places = dict.fromkeys(place for place in kept if place and len(place[0]) <= MOST_NAME)
    return [{"document": document, "paragraph": place} for document, place in places]
