"""Fills a database with finished work by copying one submission, for growth to be measured."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from tasks.models import (
    Answer,
    Exposure,
    Lease,
    Payment,
    Posting,
    Question,
    Session,
    Submission,
    Unit,
    Worker,
)
from tasks.tests.making import make_worker, questions_for, stage_of
from tasks.work import submissions

# Copies have ids from here on, far from those of what the benchmark works with.
FIRST = 10**9
PEOPLE = 1000
WRITER = f"'stored' || mod(n, {PEOPLE})"
READER = f"'stored' || mod(n + 1, {PEOPLE})"


def hand_in_one() -> None:
    """Make what is copied: the newest lease is handed in, and its first question answered."""
    lease = Lease.objects.latest("pk")
    now = timezone.now() - timedelta(days=1)
    submission = submissions.hand_in(lease, questions_for(lease, number=10), now, synthetic=False)
    question = submission.questions.earliest("pk")
    Answer.objects.create(
        question=question,
        stage=stage_of(lease.unit.stage.collection, "answer"),
        submission=submission,
        worker=make_worker("READER"),
        writer=question.worker,
        type="none",
        created_at=now,
    )
    for number in range(PEOPLE):
        Worker.objects.create(pk=f"stored{number}", created_at=now)


def store(start: int, end: int) -> None:
    """Copy until there are `end` questions, each with an answer, where there were `start`."""
    one = Submission.objects.earliest("pk")
    bundle, posting = one.lease.unit, one.lease.session.posting
    hits, items = (start // 10, end // 10), (start, end)
    own = f"{FIRST} + n"
    mine = f"{FIRST} + n / 10"
    copy_rows(Unit, bundle, hits, position=own)
    name = "'P' || n"
    token = "gen_random_uuid()"
    copy_rows(Posting, posting, hits, external_id=name, token=token, state="'settled'")
    copy_rows(Session, one.lease.session, hits, person=WRITER, worker_id=WRITER, posting_id=own)
    copy_rows(Lease, one.lease, hits, unit_id=own, session_id=own, worker_id=WRITER)
    copy_rows(Submission, one, hits, lease_id=own, receipt="'R' || n", state="'approved'")
    payment, key = one.payments.earliest("pk"), "'K' || n"
    copy_rows(Payment, payment, hits, key=key, worker_id=WRITER, submission_id=own, posting_id=own)
    question, answer = one.questions.earliest("pk"), Answer.objects.earliest("pk")
    place = {"submission_id": mine, "key": key, "worker_id": WRITER, "position": "mod(n, 10)"}
    copy_rows(Question, question, items, **place)
    votes = {"question_id": own, "submission_id": mine, "worker_id": READER, "writer_id": WRITER}
    copy_rows(Answer, answer, items, **votes)
    seed = f"one.seed_id - n / {PEOPLE}"
    copy_rows(Exposure, Exposure.objects.latest("pk"), items, worker_id=WRITER, seed_id=seed)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def copy_rows(model: type[Model], row: Any, numbers: tuple[int, int], **changed: str) -> None:
    """Insert copies of a row, one for each n from the first of `numbers` up to the last.

    changed: columns and the SQL of what they hold instead, of n and of the row copied, `one`.
    """
    changed = {"id": f"{FIRST} + n", **changed}
    columns = [str(field.column) for field in model._meta.concrete_fields]
    values = [changed.get(column, f"one.{column}") for column in columns]
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"
            f" FROM {table} one, generate_series(%s, %s - 1) n WHERE one.id = %s",
            [*numbers, row.pk],
        )
