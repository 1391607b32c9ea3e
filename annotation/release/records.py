"""Reads a collection's rows as plain records, seed by seed, in memory that does not grow."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from django.db import connection, transaction
from django.db.models import Count, Prefetch, QuerySet

from annotation.deciding import IN_ORDER
from annotation.release.pseudonyms import pseudonym
from annotation.release.shape import (
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VerdictRecord,
    VoteRecord,
)
from collector.creation import parameters_of
from collector.models import Collection, Paragraph, Seed, SeedParagraph
from tasks.models import Answer, Question

CHUNK_SEEDS = 100


def records(collection: Collection) -> Iterator[SeedRecord]:
    """Yield every seed of the main task with its questions and all their votes, by position.

    Qualification work is no part of the dataset, nor is the work of people who have withdrawn.
    Raises ProtocolError for parameters of another version of the protocol.
    """
    for seed in _seeds(collection).iterator(CHUNK_SEEDS):
        yield _seed(seed, collection.pseudonym_key)


def snapshot() -> AbstractContextManager[None]:
    """Return a context in which all that is read is of one moment.

    SQLite gives it to whoever has a cursor open; PostgreSQL has to be asked.
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


def _seeds(collection: Collection) -> QuerySet[Seed]:
    """Return the seeds with all that a record tells, in a fixed number of queries a chunk."""
    paragraphs = SeedParagraph.objects.select_related(
        "paragraph__article__corpus", "paragraph__section"
    ).order_by("position")
    questions = (
        Question.objects.select_related("stage", "verdict", "placement")
        .filter(stage__name__in=main_stages(collection), worker__withdrawn_at__isnull=True)
        .order_by("position", "key")
    )
    answers = (
        Answer.objects.select_related("stage", "submission")
        .filter(worker__withdrawn_at__isnull=True)
        .annotate(hit_items=Count("submission__answers"))
        .order_by(*IN_ORDER)
    )
    return (
        collection.seeds.filter(stage_name__in=main_stages(collection))
        .prefetch_related(
            Prefetch("seed_paragraphs", paragraphs),
            Prefetch("questions", questions),
            Prefetch("questions__answers", answers),
        )
        .order_by("position")
    )


def _seed(seed: Seed, key: str) -> SeedRecord:
    return {
        "id": seed.key,
        "key": seed.key,
        "fold": seed.fold,
        "payload": seed.payload,
        "passages": [_passage(each.paragraph) for each in seed.seed_paragraphs.all()],
        "questions": [_question(question, key) for question in seed.questions.all()],
    }


def _passage(paragraph: Paragraph) -> PassageRecord:
    return {
        "title": paragraph.article.title,
        "section": paragraph.section.heading,
        "text": paragraph.text,
        "links": [(start, end, target) for start, end, target in paragraph.links],
        "language": paragraph.article.corpus.language,
        "revision_id": paragraph.article.revision_id,
        "permalink": paragraph.article.revision_url(),
    }


def _question(question: Question, key: str) -> QuestionRecord:
    verdict = getattr(question, "verdict", None)
    placement = getattr(question, "placement", None)
    chosen = verdict.chosen_id if verdict else None
    agreeing = set(verdict.agreeing) if verdict else set()
    return {
        "id": question.key,
        "key": question.key,
        "text": question.text,
        "payload": question.payload,
        "stage": question.stage.name,
        "worker": pseudonym(key, question.worker_id) if question.worker_id else None,
        "synthetic": question.synthetic,
        "verdict": _verdict(question) if verdict else None,
        "split": placement.split if placement else None,
        "votes": [_vote(answer, chosen, agreeing, key) for answer in question.answers.all()],
    }


def _verdict(question: Question) -> VerdictRecord:
    verdict = question.verdict
    return {
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "sentence": verdict.sentence,
        "overridden": verdict.overridden,
    }


def _vote(answer: Answer, chosen: int | None, agreeing: set[int], key: str) -> VoteRecord:
    submission = answer.submission
    return {
        "stage": answer.stage.name,
        "worker": pseudonym(key, answer.worker_id) if answer.worker_id else None,
        "type": answer.type,
        "payload": answer.payload,
        "hit_seconds": submission.active_seconds if submission else None,
        "hit_items": answer.hit_items if submission else None,  # type: ignore[attr-defined]
        "synthetic": answer.synthetic,
        "chosen": answer.pk == chosen,
        "agrees": answer.pk in agreeing,
    }
