"""What kept questions rest on: the passages that prove their answers, and their own words.

Whoever has learned from a question of train must not meet what it rests on in test again, so that
questions which rest on one thing belong in one split.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from collector.models import Collection, Paragraph, SeedParagraph
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.retrieval.near_duplicates import alike
from collector.retrieval.terms import terms
from collector.seeds.near_copies import least_share
from collector.seeds.seed_contracts import SPLITS
from tasks.models import Answer, Question
from tasks.work.cited_passages import name_of, paragraph_of, text_of

AT_ONCE = 500
# Questions that have so many terms in a row in common are taken for one: fewer are a way to ask.
SAME_WORDS = 8


def resting_on(collection: Collection, kept: QuerySet[Question]) -> dict[int, dict[str, str]]:
    """Return by question id what it rests on, by name, each with the planned fold of its document.

    The fold is blank where no seed shows the document, and of the question's own words. Passages
    that are nearly the same have one name. Empty for a protocol whose questions are not placed so,
    and for published files, whose splits are theirs.
    """
    protocol = get_protocol(collection.protocol)
    if not protocol.has(SPLITS, "rests_on") or collection.official_files.exists():
        return {}
    rests_on = protocol.part(SPLITS).rests_on
    shown, folds = _shown(collection)
    found: dict[int, list[tuple[str, int]]] = {}
    words: dict[int, list[str]] = {}
    for row, answers in _with_answers(kept):
        passages_of = rests_on(row.stage.name, shown.get(row.seed_id, ()), answers)
        found[row.pk] = list(dict.fromkeys(passages_of))
        words[row.pk] = _runs(row.text)
    # In an order that no database decides: the first of what is nearly the same names it.
    names = sorted({name_of(*each) for some in found.values() for each in some})
    texts = (_text(collection, name) for name in names)
    same = alike(texts, least_share(parameters_of(collection)))
    named = dict(zip(names, (names[number] for number in same), strict=True))
    resting: dict[int, dict[str, str]] = {}
    for question, own in found.items():
        resting[question] = dict.fromkeys(words[question], "")
        for document, paragraph in own:
            name = named[name_of(document, paragraph)]
            # Of two documents that have the passage one may be planned.
            resting[question][name] = resting[question].get(name) or folds.get(document, "")
    return resting


def _shown(collection: Collection) -> tuple[dict[int, list[tuple[str, int]]], dict[str, str]]:
    """Return each seed's passages, by seed id, and the fold of each document, by its own id."""
    rows = SeedParagraph.objects.filter(seed__collection=collection).order_by("seed", "position")
    shown: dict[int, list[tuple[str, int]]] = {}
    folds: dict[str, str] = {}
    for row in rows.select_related("seed", "paragraph__article__document").iterator(AT_ONCE):
        article = row.paragraph.article
        document = getattr(article, "document", None)
        own = document.external_id if document else article.title
        shown.setdefault(row.seed_id, []).append((own, row.paragraph.position))
        if row.seed.fold:
            folds[own] = row.seed.fold
    return shown, folds


def _with_answers(kept: QuerySet[Question]) -> Iterator[tuple[Question, list[dict[str, Any]]]]:
    """Yield each question with the payloads of the answers that its verdict believes."""
    rows = kept.select_related("stage", "verdict").iterator(AT_ONCE)
    while some := list(islice(rows, AT_ONCE)):
        of = {row.pk: {row.verdict.chosen_id, *row.verdict.agreeing} - {None} for row in some}
        wanted = set().union(*of.values())
        payloads = dict(Answer.objects.filter(pk__in=wanted).values_list("pk", "payload"))
        for row in some:
            yield row, [payloads[pk] for pk in sorted(of[row.pk]) if pk in payloads]


def _text(collection: Collection, name: str) -> str:
    """Return a passage's text; blank for one that is not there."""
    try:
        return text_of(paragraph_of(collection.corpus_id, name))
    except Paragraph.DoesNotExist:
        return ""


def _runs(text: str) -> list[str]:
    """Return the runs of a question's terms that no other question has in another split."""
    found = terms(text)
    n_runs = max(1, len(found) - SAME_WORDS + 1)
    return [f"asks {' '.join(found[at : at + SAME_WORDS])}" for at in range(n_runs) if found]
