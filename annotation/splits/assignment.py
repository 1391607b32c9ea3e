"""Puts every kept question into its split, together with those that rest on the same passages."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import SplitAssignment
from annotation.protocols.contracts import EXPORT
from annotation.protocols.folds import SAME_TERMS
from annotation.splits.cross_validation import as_example, facts_of, table_of
from annotation.splits.kept_questions import kept_questions, settled, told_splits
from collector.models import Collection, Paragraph, SeedParagraph
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.retrieval.terms import alike, terms
from collector.seeds.candidate import SPLITS, Example
from collector.seeds.selection import least_share
from tasks.models import Answer, Question
from tasks.work.passages import name_of, paragraph_of, text_of

AT_ONCE = 500
CHUNK = 2000


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
    runs: dict[int, list[str]] = {}
    for row, answers in _with_answers(kept):
        passages_of = rests_on(row.stage.name, shown.get(row.seed_id, ()), answers)
        found[row.pk] = list(dict.fromkeys(passages_of))
        # Questions with a run of terms in common are taken for one.
        asked = terms(row.text)
        n_runs = max(1, len(asked) - SAME_TERMS + 1)
        runs[row.pk] = [
            f"asks {' '.join(asked[at : at + SAME_TERMS])}" for at in range(n_runs) if asked
        ]
    # In an order that no database decides: the first of what is nearly the same names it.
    names = sorted({name_of(*each) for some in found.values() for each in some})
    same = alike(_texts(collection, names), least_share(parameters_of(collection)))
    named = dict(zip(names, (names[number] for number in same), strict=True))
    resting: dict[int, dict[str, str]] = {}
    for question, own in found.items():
        resting[question] = dict.fromkeys(runs[question], "")
        for document, paragraph in own:
            name = named[name_of(document, paragraph)]
            # Of two documents that have the passage one may be planned.
            resting[question][name] = resting[question].get(name) or folds.get(document, "")
    return resting


def _texts(collection: Collection, names: Sequence[str]) -> Iterator[str]:
    """Yield each passage's text; blank for one that is not there."""
    for name in names:
        try:
            yield text_of(paragraph_of(collection.corpus_id, name))
        except Paragraph.DoesNotExist:
            yield ""


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


def make_splits(collection: Collection, now: datetime) -> dict[str, int]:
    """Return the number of kept questions per split, placed anew by the protocol's rule.

    Repeatable: the same verdicts, predictions and the collection's seed give the same assignments.
    Where answers of splits are withheld, a release settles what it placed: only other questions are
    placed, and those whose answers it told never enter a withheld split.
    Raises ActionError where the protocol places by difficulty and it is not judged yet.
    """
    parameters = parameters_of(collection)
    splits = get_protocol(collection.protocol).part(SPLITS)
    rng = random.Random(f"{collection.random_seed}:splits")
    withheld = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    told, stay = told_splits(collection), settled(collection)
    kept = kept_questions(collection).exclude(split_assignment__in=stay)
    judged = None
    if table_of(collection):
        answered = kept.select_related("verdict__chosen").iterator(CHUNK)
        judged = facts_of(collection, answered)
    rests_on = resting_on(collection, kept)
    # Of each question only what decides its split: a collection can have a hundred thousand.
    ids: dict[str, int] = {}
    examples: list[Example] = []
    columns = ("pk", "key", "seed__fold", "worker_id")
    for pk, key, fold, worker in kept.values_list(*columns).iterator(CHUNK):
        if judged is not None and pk not in judged:
            # It was kept meanwhile, and has its place the next time.
            continue
        ids[key] = pk
        examples.append(
            {
                "fold": fold,
                "key": key,
                "worker": worker,
                "published": pk in told and told[pk] not in withheld,
                "rests_on": rests_on.get(pk, {}),
                **(as_example(judged[pk]) if judged else {}),
            }
        )
    placed = kept_questions(collection).filter(split_assignment__in=stay)
    counts = Counter(placed.values_list("split_assignment__split", flat=True).iterator(CHUNK))
    rows = (
        SplitAssignment(
            question_id=ids[str(example["key"])], split=split, reason=reason, placed_at=now
        )
        for example, split, reason in splits.assign(examples, parameters, rng)
    )
    with transaction.atomic():
        # A release stores what it tells before or after this, and not meanwhile.
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        # What one has told since has its place by it, or has it the next time.
        since = {pk for pk, split in told_splits(collection).items() if told.get(pk) != split}
        SplitAssignment.objects.filter(question__stage__collection=collection).exclude(
            pk__in=stay.values("pk")
        ).delete()
        fresh = (row for row in rows if row.question_id not in since)
        while chunk := list(islice(fresh, CHUNK)):
            SplitAssignment.objects.bulk_create(chunk, batch_size=500)
            counts.update(row.split for row in chunk)
    return dict(counts)
