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
from tasks.work.cited_passages import name_of, paragraph_of

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
    found: dict[int, list[str]] = {}
    words: dict[int, list[str]] = {}
    for row, answers in _with_answers(kept):
        passages_of = rests_on(row.stage.name, shown.get(row.seed_id, ()), answers)
        found[row.pk] = [name_of(*each) for each in dict.fromkeys(passages_of)]
        words[row.pk] = _runs(row.text)
    # In an order that no database decides: the first of what is nearly the same names it.
    names = sorted({name for each in found.values() for name in each})
    articles: dict[str, int] = {}

    def texts() -> Iterator[str]:
        for name in names:
            text, articles[name] = _passage(collection, name)
            yield text

    same = alike(texts(), least_share(parameters_of(collection)))
    named = dict(zip(names, (names[number] for number in same), strict=True))
    resting: dict[int, dict[str, str]] = {}
    for question, own in found.items():
        resting[question] = dict.fromkeys(words[question], "")
        for name in own:
            fold = folds.get(articles[name], "")
            # Of two documents that have the passage one may be planned.
            resting[question][named[name]] = resting[question].get(named[name]) or fold
    return resting


def _shown(collection: Collection) -> tuple[dict[int, list[tuple[str, int]]], dict[int, str]]:
    """Return each seed's passages, by seed id, and the fold of articles, by theirs."""
    rows = SeedParagraph.objects.filter(seed__collection=collection).order_by("seed", "position")
    shown: dict[int, list[tuple[str, int]]] = {}
    folds: dict[int, str] = {}
    for row in rows.select_related("seed", "paragraph__article__document").iterator(AT_ONCE):
        article = row.paragraph.article
        document = getattr(article, "document", None)
        own = document.external_id if document else article.title
        shown.setdefault(row.seed_id, []).append((own, row.paragraph.position))
        if row.seed.fold:
            folds[article.pk] = row.seed.fold
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


def _passage(collection: Collection, name: str) -> tuple[str, int]:
    """Return a passage's text and its article's id; blank and 0 for one that is not there."""
    try:
        paragraph = paragraph_of(collection.corpus_id, name)
    except Paragraph.DoesNotExist:
        return "", 0
    rows = Paragraph.objects.values_list("text", "article_id")
    text, article = rows.get(pk=paragraph)
    return text, article


def _runs(text: str) -> list[str]:
    """Return the runs of a question's terms that no other question has in another split."""
    found = terms(text)
    n_runs = max(1, len(found) - SAME_WORDS + 1)
    return [f"asks {' '.join(found[at : at + SAME_WORDS])}" for at in range(n_runs) if found]
