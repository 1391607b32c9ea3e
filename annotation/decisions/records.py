"""Reads a collection's rows as plain records, a chunk of seeds at a time to limit memory."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from django.db import connection, transaction
from django.db.models import Count, Prefetch, QuerySet

from annotation.decisions.by_hand import stages_apart
from annotation.decisions.counted_work import counted_without, excluded_workers, is_counted
from annotation.decisions.verdicts import IN_ORDER
from annotation.models import Context
from annotation.records.schema import (
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
)
from collector.code_points import CodePoints
from collector.models import Collection, Paragraph, Seed, SeedParagraph
from collector.models.corpus import CorpusKind
from collector.protocols.creation import parameters_of
from tasks.models import Answer, Question, Skip
from tasks.simulation.identity import genuine, made_up

CHUNK_SEEDS = 100


def records(collection: Collection) -> Iterator[SeedRecord]:
    """Yield every seed of the main task with its questions and all their votes, by position.

    Qualification work is not part of the dataset. Neither is the work of people who have
    withdrawn or are excluded. Raises ProtocolError for parameters of another version of
    the protocol.
    """
    out = excluded_workers(collection)
    seeds = _seeds(collection, out).iterator(CHUNK_SEEDS)
    labelling = frozenset(stages_apart(parameters_of(collection)))
    before = _asked_before(collection)
    while chunk := list(islice(seeds, CHUNK_SEEDS)):
        wanted = {
            pk
            for seed in chunk
            for question in seed.questions.all()
            for context in _contexts(question)
            for pk in context.paragraphs
        }
        rows = Paragraph.objects.select_related("article__corpus", "article__document", "section")
        of = _Context(
            collection.pseudonym_key,
            rows.in_bulk(wanted) if wanted else {},
            labelling,
            out,
            before,
        )
        for seed in chunk:
            shown = [row.paragraph for row in seed.seed_paragraphs.all()]
            yield {
                "id": seed.key,
                "key": seed.key,
                "fold": seed.fold,
                "payload": seed.payload,
                "passages": [passage_record(paragraph) for paragraph in shown],
                "questions": [_question(question, of) for question in seed.questions.all()],
                "skips": len(seed.skips.all()),  # type: ignore[attr-defined]
            }


def snapshot() -> AbstractContextManager[None]:
    """Return a context in which all reads see one snapshot of the database.

    SQLite keeps a snapshot while a cursor is open. PostgreSQL needs an isolation level for it.
    """
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        return _repeatable()
    return nullcontext()


def main_stages(collection: Collection) -> list[str]:
    """Return the names of the stages whose seeds and questions make the dataset."""
    return [
        name
        for name, table in parameters_of(collection).stages().items()
        if table.items_from == "seeds" and not table.qualifies
    ]


@contextmanager
def _repeatable() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def _seeds(collection: Collection, out: Set[str]) -> QuerySet[Seed]:
    """Return the seeds with all rows that records need, in a fixed number of queries per chunk."""
    paragraphs = SeedParagraph.objects.select_related(
        "paragraph__article__corpus", "paragraph__article__document", "paragraph__section"
    ).order_by("position")
    questions = (
        Question.objects.select_related("stage", "verdict", "split_assignment")
        .filter(counted_without(out), stage__name__in=main_stages(collection))
        .order_by("position", CodePoints("key"))
    )
    answers = (
        Answer.objects.select_related("stage", "submission")
        .prefetch_related("corrects__worker")
        .filter(counted_without(out))
        .annotate(hit_items=Count("submission__answers"))
        .order_by(*IN_ORDER)
    )
    return (
        collection.seeds.filter(stage__name__in=main_stages(collection))
        .prefetch_related(
            Prefetch("seed_paragraphs", paragraphs),
            Prefetch("questions", questions),
            Prefetch("questions__answers", answers),
            Prefetch("skips", Skip.objects.filter(counted_without(out))),
            Prefetch("questions__contexts", Context.objects.order_by("setting")),
        )
        .order_by("position")
    )


def _asked_before(collection: Collection) -> dict[int, tuple[int, int]]:
    """Return, for each question whose text occurs more than once, how often it was asked before.

    By question id: (the number about the same seed, the number about any seed). Only questions of
    the same stage with equal text are counted.
    """
    asked = Question.objects.filter(
        stage__collection=collection, stage__name__in=main_stages(collection)
    )
    several = asked.order_by().values("text").annotate(n=Count("pk")).filter(n__gt=1)
    rows = asked.filter(text__in=several.values("text")).order_by("pk")
    seen: Counter[tuple[int, int | None, str]] = Counter()
    found = {}
    for pk, stage, seed, text in rows.values_list("pk", "stage_id", "seed_id", "text").iterator():
        same = (stage, seed, text), (stage, None, text)
        found[pk] = (seen[same[0]], seen[same[1]])
        seen.update(same)
    return found


@dataclass(frozen=True)
class _Context:
    """What records of a chunk need besides its rows.

    key: the key of the pseudonyms. read: paragraphs by id. labelling: names of the stages that
    label decided questions. out: ids of excluded workers. asked_before: see `_asked_before`.
    """

    key: str
    read: dict[int, Paragraph]
    labelling: frozenset[str]
    out: Set[str]
    asked_before: dict[int, tuple[int, int]]


def passage_record(paragraph: Paragraph) -> PassageRecord:
    """Return a paragraph as it is released."""
    passage: PassageRecord = {
        "title": paragraph.article.title,
        "section": paragraph.section.heading,
        "text": paragraph.text,
        "position": paragraph.position,
        "links": [(start, end, target) for start, end, target in paragraph.links],
        "language": paragraph.article.corpus.language,
        "revision_id": paragraph.article.revision_id,
        "permalink": paragraph.article.revision_url(),
    }
    if paragraph.sentences is not None:
        passage["sentences"] = [(start, end) for start, end in paragraph.sentences]
    if paragraph.article.corpus.kind == CorpusKind.DOCUMENTS:
        document = paragraph.article.document
        passage["document"], passage["licence"] = document.external_id, document.licence
        if paragraph.pages:
            passage["pages"] = [(start, number) for start, number in paragraph.pages]
    return passage


def _question(question: Question, of: _Context) -> QuestionRecord:
    key = of.key
    verdict = getattr(question, "verdict", None)
    split_assignment = getattr(question, "split_assignment", None)
    answers = list(question.answers.all())
    chosen = verdict.chosen_id if verdict else None
    agreeing = set(verdict.agreeing) if verdict else set()
    record: QuestionRecord = {
        "id": question.key,
        "key": question.key,
        "text": question.text,
        "payload": question.payload,
        "stage": question.stage.name,
        "worker": pseudonym(key, question.worker_id) if question.worker_id else None,
        "synthetic": question.synthetic,
        "verdict": {
            "outcome": verdict.outcome,
            "reason": verdict.reason,
            "sentence": verdict.sentence,
            "overridden": verdict.overridden,
        }
        if verdict
        else None,
        "split": split_assignment.split if split_assignment else None,
        "votes": [
            _vote(answer, chosen, agreeing, key) for answer in answers if not answer.corrected_by
        ],
    }
    for answer in answers:
        if answer.corrected_by and answer.pk == chosen:
            record["correction"] = _vote(answer, chosen, agreeing, key)
        elif answer.corrected_by and answer.stage.name in of.labelling:
            # Answers come in order: the latest decision stays, if its labels still count.
            held = record.setdefault("label_decisions", {})
            held.pop(answer.stage.name, None)
            if is_counted(answer, of.out):
                held[answer.stage.name] = _vote(answer, chosen, agreeing, key)
    if question.pk in of.asked_before:
        record["asked_before"] = of.asked_before[question.pk]
    if split_assignment:
        record["split_reason"] = split_assignment.reason
    for context in _contexts(question):
        passages = [passage_record(of.read[pk]) for pk in context.paragraphs]
        # Links make up most of a passage, and no reader of contexts needs them.
        for passage in passages:
            passage["links"] = []
        record.setdefault("contexts", {})[context.setting] = passages
        if context.pool is not None:
            record["ranks"] = {
                "pool": context.pool,
                "gold": context.gold_ranks,
                "answer": context.answer_rank,
            }
    return record


def _contexts(question: Question) -> list[Context]:
    return list(question.contexts.all())  # type: ignore[attr-defined]


def _vote(answer: Answer, chosen: int | None, agreeing: set[int], key: str) -> VoteRecord:
    submission = answer.submission
    return {
        "stage": answer.stage.name,
        "worker": pseudonym(key, answer.worker_id) if answer.worker_id else None,
        "type": answer.type,
        "payload": genuine(answer.payload),
        "hit_seconds": (submission.active_seconds or None) if submission else None,
        "hit_items": answer.hit_items if submission else None,  # type: ignore[attr-defined]
        "synthetic": answer.synthetic,
        "synthetic_fields": made_up(answer.payload),
        "chosen": answer.pk == chosen,
        "agrees": answer.pk in agreeing,
    }


@lru_cache(maxsize=65536)
def pseudonym(key: str, worker_id: str) -> str:
    """Return the worker's name in releases: 20 hex digits of HMAC-SHA256.

    key: the collection's secret.
    """
    return f"worker_{keyed_digest(key, worker_id)[:20]}"


def keyed_digest(key: str, text: str) -> str:
    """Return HMAC-SHA256 as 64 hex digits; without `key` nobody can find `text` by guessing."""
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
