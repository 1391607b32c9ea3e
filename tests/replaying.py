"""A collection on which everything happens that a log must be able to tell, and its replay.

These functions run on the databases of a served instance.
"""

import random
from difflib import unified_diff
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.decisions.by_hand import exclude_worker, override_verdict
from annotation.models import Verdict
from annotation.release.log import AssignmentLine
from annotation.replay.rerun import Rerun
from collector.models import Collection, Stage
from collector.protocols.creation import revise
from collector.protocols.loading import get_protocol
from tasks.ledger import payments
from tasks.models import (
    Grant,
    GrantState,
    Lease,
    LeaseState,
    Posting,
    PostingState,
    ReceiptState,
    Submission,
    Worker,
)
from tasks.people import eligibility, qualifications
from tasks.simulation.behaviour import DILIGENT
from tasks.simulation.browser import Browser
from tasks.simulation.identity import introduce
from tasks.simulation.simulated_contract import SIMULATED
from tasks.simulation.worker import SimulatedWorker, WorkPage
from tasks.work import leases
from tests.serving import ROOT

SAMPLE = ROOT / "deploy" / "sample" / "quarnsey.xml"
SLUG = "again"
FIRST = "question_qualification"
# Small HITs, so that each of five workers meets every stage.
SMALL = [
    "pay.approve_after_hours=0",
    "question_qualification.redundancy={ train = 5, dev = 5, test = 5 }",
    "answer_qualification.redundancy={ train = 3, dev = 3, test = 3 }",
    "question.items_per_hit=4",
    "question.questions_per_hit=4",
    "question.multi_link_questions=1",
    "answer.items_per_hit=4",
    "answer.redundancy={ train = 1, dev = 2, test = 2 }",
    "human_performance.items_per_hit=2",
    'human_performance.requires=""',
    "splits.train=1",
    "splits.dev=1",
    "splits.test=1",
]


def collect(out: str, log: str) -> None:
    """Let a crowd work, four at a time, with much that goes otherwise than planned; release."""
    read_in()
    create = {"protocol": "iirc", "corpus": "read", "budget": 600.0, "seed": 5, "set": SMALL}
    call_command("create_collection", SLUG, **create)
    call_command("select_seeds", SLUG, count=8)
    call_command("publish", SLUG)
    begin("Ada", LeaseState.RETURNED)
    late = begin("Grace", LeaseState.EXPIRED)
    change_words_and_pay()
    call_command("simulate", SLUG, workers=5, inspect=True, seed=5)
    hand_in(late)
    call_command("validate_answers", SLUG)
    decide_by_hand()
    reject_reward_and_leave_out()
    turn_clocks_back()
    call_command("make_splits", SLUG)
    call_command("export_dataset", SLUG, out=Path(out), log=Path(log))


def replay(out: str, log: str) -> None:
    """Do it again, while jobs find no work for anybody before the log's next unit is made."""
    read_in()
    prepare = Rerun._prepare

    def prepare_while_a_job_looks(rerun: Rerun, one: AssignmentLine, stage: Stage) -> None:
        prepare(rerun, one, stage)
        for worker in Worker.objects.filter(pk=one.worker, identity__isnull=False):
            eligibility.close_for_now(worker, stage)

    with patch.object(Rerun, "_prepare", prepare_while_a_job_looks):
        try:
            call_command("replay_log", log, out=Path(out))
        except CommandError as error:
            raise AssertionError(f"{error}\n{difference_of_cards(Path(out))}") from None


def difference_of_cards(out: Path) -> str:
    """Return how the two releases' READMEs differ, as they tell the most in the fewest words."""
    cards = [out.with_name(name) / "README.md" for name in ("collect", out.name)]
    texts = [card.read_text("utf-8").splitlines() if card.exists() else [] for card in cards]
    return "\n".join(unified_diff(*texts, lineterm="", n=0))


def read_in() -> None:
    """Read the sample corpus."""
    call_command("ingest_dump", str(SAMPLE), corpus="read", licence="CC0 1.0", processes=1)


def begin(name: str, end: LeaseState) -> WorkPage:
    """Return the page of somebody who takes a HIT to qualify, and whose lease then ends."""
    worker = SimulatedWorker(
        name=name,
        browser=Browser(settings.MARKETPLACE_URL),
        script=lambda state, opener: {},
        introduce=lambda person, hit: bool(introduce(person, synthetic=True, now=timezone.now())),
    )
    worker.sign_in()
    hit = Posting.objects.filter(stage__name=FIRST, state=PostingState.LIVE).first()
    assert hit is not None
    page = worker.accept(hit.external_id)
    assert page is not None
    inner = worker.enter(page)
    assert inner is not None
    work_page = worker.work_page(inner)
    worker.give_back(page)
    leases.end(Lease.objects.latest("id"), end, timezone.now())
    return work_page


def hand_in(work_page: WorkPage) -> None:
    """Hand work in whose place others have taken meanwhile."""
    fill = get_protocol("iirc").part(SIMULATED).fill
    form, problems = work_page.submit(
        fill(work_page.state, DILIGENT, random.Random(1), work_page.open_article)
    )
    assert form is not None, problems


def change_words_and_pay() -> None:
    """Ask everybody anew for their consent, and pay more for what is posted later."""
    text = Collection.objects.get(slug=SLUG).texts.get(name="consent")
    text.collection.texts.create(
        name="consent", version=2, markdown=text.markdown + " Really.", created_at=timezone.now()
    )
    pay = {"question_qualification.reward_cents": 130, "question.reward_cents": 410}
    revise(text.collection, pay, why="It takes longer.", by="Rita", now=timezone.now())


def reject_reward_and_leave_out() -> None:
    """Reject one assignment, give a bonus for another, and leave out all of a third worker."""
    collection = Collection.objects.get(slug=SLUG)
    work = Submission.objects.filter(lease__unit__stage__collection=collection, counts=True)
    one, other, *_ = work.order_by("pk")
    Submission.objects.filter(pk=one.pk).update(state=ReceiptState.REJECTED)
    payments.give_bonus(other.lease, 75, "Clear.", "Rita", uuid4(), timezone.now())
    exclude_worker(collection, least_missed(collection), "Copied.", "Rita", timezone.now())


def least_missed(collection: Collection) -> Worker:
    """Return who made something, and without whom the most of what is kept is left.

    Who does what is chance: all that is kept may be by one writer.
    """
    kept = Verdict.objects.filter(question__stage__collection=collection, outcome="kept")
    work = Submission.objects.filter(lease__unit__stage__collection=collection, counts=True)
    workers = Worker.objects.filter(pk__in=work.values("lease__worker")).order_by("pk")
    return max(
        workers,
        key=lambda one: (
            kept.exclude(question__worker=one).exclude(question__answers__worker=one).count()
        ),
    )


def turn_clocks_back() -> None:
    """Leave times as clocks leave them that ran backwards all day: no order follows from them."""
    noon = timezone.now()
    for model, name in ((Lease, "taken_at"), (Submission, "received_at")):
        for row in model.objects.filter(**{f"{name}__lt": noon}):
            model.objects.filter(pk=row.pk).update(**{name: noon + (noon - getattr(row, name))})


def decide_by_hand() -> None:
    """Leave out the first question that is kept, and take a qualification back from a writer."""
    kept = Verdict.objects.filter(question__stage__collection__slug=SLUG, outcome="kept")
    first = kept.order_by("question__key")[0]
    override_verdict(first, "dropped", None, "It is about another island.", "Rita", timezone.now())
    grant = Grant.objects.filter(
        state=GrantState.GRANTED, qualification__stage__name=FIRST, worker__questions__isnull=False
    )[0]
    qualifications.decide(grant, granted=False, note="Later.", by="Rita", now=timezone.now())
