"""Bonuses come from approved submissions alone, once, out of money that was held before."""

from datetime import timedelta

import pytest

from collector.models import Collection
from common.actions import ActionError
from tasks import hits
from tasks.costs import estimate
from tasks.ledger.performance_bonuses import award_bonuses, progress_of
from tasks.ledger.tests.making import begin, hand_in, make_pairs
from tasks.models import (
    BonusFund,
    ExampleCount,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    Question,
    ReceiptState,
    Submission,
)
from tasks.people.erasure import forget
from tasks.tests.making import NOW, make_worker, stage_of, write_keys

pytestmark = pytest.mark.django_db
BONUSES = {"top": "top:", "pace": "pace:"}


@pytest.fixture(autouse=True)
def _keys(tmp_path, settings):
    write_keys(tmp_path, settings)


@pytest.fixture
def pairs():
    return make_pairs()


@pytest.fixture
def stage(pairs):
    return stage_of(pairs, "question")


def due(kind: str) -> list[tuple[str, int]]:
    """Return who is owed how much for a kind of bonus, in order."""
    rows = Payment.objects.filter(kind=PaymentKind.BONUS, key__startswith=BONUSES[kind])
    return list(rows.order_by("key").values_list("worker_id", "amount_cents"))


def test_the_two_who_wrote_most_of_a_round_are_owed_its_bonus_once(pairs, stage) -> None:
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    hand_in(begin(pairs, ada), skipped=1)
    hand_in(begin(pairs, grace))
    assert award_bonuses(stage, NOW) == 0
    hand_in(begin(pairs, grace))
    assert award_bonuses(stage, NOW) == 3
    assert award_bonuses(stage, NOW) == 0
    assert due("top") == [(grace.pk, 500), (ada.pk, 200)]
    reasons = Payment.objects.filter(key__startswith="top:").order_by("key")
    assert reasons[0].reason == "Place 1 of round 1: 3 of 4 questions."
    assert reasons[0].lease == grace.leases.latest("id")


def test_the_prizes_of_a_round_go_past_a_person_who_was_forgotten_before_it_ended(
    pairs, stage
) -> None:
    ada, grace, ida = make_worker("AADA"), make_worker("AGRACE"), make_worker("AIDA")
    hand_in(begin(pairs, ada))
    award_bonuses(stage, NOW)
    Payment.objects.update(state=PaymentState.CONFIRMED)
    forget(ada, NOW, withdraw=False)
    hand_in(begin(pairs, grace), skipped=1)
    told = progress_of(begin(pairs, ida))
    assert told is not None
    assert told["round"]["next_cents"] == 200, "the page does not count who was forgotten either"
    hand_in(begin(pairs, make_worker("AEDITH")), skipped=1)
    award_bonuses(stage, NOW)
    assert due("top") == [(grace.pk, 500), (worker_of("AEDITH"), 200)]


def test_nobody_is_forgotten_whose_work_waits_to_count_for_a_bonus() -> None:
    pairs = make_pairs(question__bonuses__wait_hours=24)
    ada = make_worker("AADA")
    for _ in range(2):
        hand_in(begin(pairs, ada), seconds=600)
    Payment.objects.update(state=PaymentState.CONFIRMED)
    with pytest.raises(ActionError, match="not counted for the bonuses of 'question' in 'pairs'"):
        forget(ada, NOW, withdraw=False)
    award_bonuses(stage_of(pairs, "question"), NOW + timedelta(hours=24))
    with pytest.raises(ActionError, match="owed money"):
        forget(ada, NOW, withdraw=False)
    Payment.objects.update(state=PaymentState.CONFIRMED)
    forget(ada, NOW, withdraw=False)


def test_a_block_is_paid_by_the_pace_it_was_written_at(pairs, stage) -> None:
    ada = make_worker("AADA")
    for _ in range(3):
        hand_in(begin(pairs, ada), seconds=600)
    award_bonuses(stage, NOW)
    # Twelve an hour in the first three, and in the next three.
    assert due("pace") == [(ada.pk, 50), (ada.pk, 50)]
    hand_in(begin(pairs, ada), seconds=60)
    award_bonuses(stage, NOW)
    assert len(due("pace")) == 2


def test_what_is_not_approved_is_not_counted(pairs, stage) -> None:
    ada = make_worker("AADA")
    for state in (ReceiptState.HELD, ReceiptState.CONFIRMED, ReceiptState.REJECTED):
        submission = hand_in(begin(pairs, ada))
        Submission.objects.filter(pk=submission.pk).update(state=state)
    assert award_bonuses(stage, NOW) == 0
    assert not ExampleCount.objects.exists()
    Submission.objects.update(state=ReceiptState.APPROVED)
    assert award_bonuses(stage, NOW) == 3


def drop(number: int) -> None:
    """Drop one of the questions, the first by 0."""
    from annotation.models import Verdict

    Verdict.objects.create(
        question=Question.objects.order_by("id")[number],
        outcome="dropped",
        reason="unanswerable",
        sentence="It cannot be answered.",
        n_votes=1,
        decided_at=NOW,
    )


def test_what_was_dropped_counts_for_nobody(pairs, stage) -> None:
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    for _ in range(2):
        hand_in(begin(pairs, ada), seconds=600)
    drop(0)
    # Three that were not dropped: no round is full, and they are nine an hour.
    assert award_bonuses(stage, NOW) == 0
    hand_in(begin(pairs, grace))
    award_bonuses(stage, NOW)
    assert due("top") == [(ada.pk, 500), (grace.pk, 200)]
    assert Payment.objects.get(amount_cents=500).reason.endswith("3 of 4 questions.")


def test_a_question_counts_after_hours_in_which_it_can_be_dropped() -> None:
    pairs = make_pairs(question__bonuses__wait_hours=24)
    stage, ada = stage_of(pairs, "question"), make_worker("AADA")
    for _ in range(2):
        hand_in(begin(pairs, ada), seconds=300)
    assert award_bonuses(stage, NOW + timedelta(hours=23)) == 0
    told = progress_of(begin(pairs, ada))
    assert told is not None
    assert (told["round"]["done"], told["block"]["own"]) == (0, 1)
    drop(0)
    told = progress_of(begin(pairs, ada))
    assert told is not None
    assert (told["round"]["own"], told["round"]["cents"], told["block"]["own"]) == (3, 500, 0)
    assert award_bonuses(stage, NOW + timedelta(hours=24)) == 1
    assert due("pace") == [(ada.pk, 50)]
    pairs.refresh_from_db()
    assert pairs.reserved_cents >= 700, "what can be earned is held while it waits"


def test_the_money_is_held_before_anybody_can_earn_it(pairs, stage) -> None:
    reward = 4 * 375
    hits.plan_postings(stage, NOW)
    pairs.refresh_from_db()
    # Eight questions: two rounds of 700, and two blocks of three at the best pace.
    assert pairs.reserved_cents == reward + 2 * 700 + 2 * 100
    [row] = [row for row in estimate(pairs) if row.stage == stage]
    # Half of the pairs may be skipped once: three more HITs, six more questions.
    assert row.maximum_cents == pairs.reserved_cents + 3 * 375 + 700 + 2 * 100


def test_a_budget_without_room_for_the_bonus_takes_no_hit_in() -> None:
    poor = make_pairs(budget_cents=2 * 375 + 700 + 100)
    hits.plan_postings(stage_of(poor, "question"), NOW)
    poor.refresh_from_db()
    assert stage_of(poor, "question").postings.count() == 2
    assert poor.reserved_cents <= poor.budget_cents


def test_what_nobody_can_earn_any_more_is_free_again(pairs, stage) -> None:
    for person in ("AADA", "AGRACE"):
        worker = make_worker(person)
        for _ in range(2):
            hand_in(begin(pairs, worker), skipped=1, seconds=3600)
    award_bonuses(stage, NOW)
    pairs.refresh_from_db()
    assert due("top") == [(worker_of("AADA"), 500), (worker_of("AGRACE"), 200)]
    assert due("pace") == []
    assert pairs.reserved_cents == 0
    assert pairs.spent_cents == 4 * 375 + 700
    fund = BonusFund.objects.get()
    assert fund.held_cents == fund.paid_cents == 700


def test_a_bonus_for_work_whose_rejection_is_taken_back_is_owed_though_its_money_had_gone(
    pairs, stage
) -> None:
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    hand_in(begin(pairs, ada))
    rejected = hand_in(begin(pairs, grace))
    Submission.objects.filter(pk=rejected.pk).update(state=ReceiptState.REJECTED)
    Posting.objects.filter(state__in=["live", "publishing"]).update(state=PostingState.EXPIRED)
    award_bonuses(stage, NOW)
    pairs.refresh_from_db()
    bound = pairs.reserved_cents + pairs.spent_cents
    Collection.objects.update(budget_cents=bound, maximum_cents=bound)
    Submission.objects.filter(pk=rejected.pk).update(state=ReceiptState.APPROVED)
    assert award_bonuses(stage, NOW) == 2
    assert due("top") == [(ada.pk, 500), (grace.pk, 200)]
    pairs.refresh_from_db()
    assert pairs.reserved_cents + pairs.spent_cents == pairs.budget_cents
    assert pairs.spent_cents == 2 * 375 + 700
    first = pairs.revisions.filter(old=bound).values_list("key", "by")
    assert set(first) == {("budget_cents", "bonuses"), ("maximum_cents", "bonuses")}


def test_work_of_an_excluded_worker_waits_for_its_bonuses_until_that_is_taken_back(
    pairs, stage
) -> None:
    from annotation.decisions.by_hand import exclude_worker, include_again
    from annotation.decisions.verdicts import decide_anew

    ada = make_worker("AADA")
    for _ in range(2):
        hand_in(begin(pairs, ada), seconds=600)
    decide_anew(pairs, list(Question.objects.all()), NOW)
    excluded = exclude_worker(pairs, ada, "Copied.", "rita", NOW)
    assert award_bonuses(stage, NOW) == 0
    include_again(excluded, "Not copied.", "rita", NOW)
    assert award_bonuses(stage, NOW) == 2
    assert (due("top"), due("pace")) == ([(ada.pk, 500)], [(ada.pk, 50)])


def worker_of(person: str) -> str:
    """Return the internal id of a person of the marketplace."""
    return str(Submission.objects.filter(lease__session__person=person)[0].lease.worker_id)


def test_a_worker_sees_their_own_progress_and_the_distance_to_the_bonus(pairs, stage) -> None:
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    lease = begin(pairs, ada)
    nothing = progress_of(lease)
    assert nothing is not None
    assert nothing["round"] == {
        "every": 4, "can_fill": True,
        "done": 0, "own": 0, "place": None, "cents": 0, "lacking": 1, "next_cents": 500,
    }  # fmt: skip
    hand_in(lease, skipped=1)
    hand_in(begin(pairs, grace), seconds=1200)
    award_bonuses(stage, NOW)
    told = progress_of(begin(pairs, ada))
    assert told is not None
    assert told["round"] == {
        "every": 4, "can_fill": True,
        "done": 3, "own": 1, "place": 2, "cents": 200, "lacking": 2, "next_cents": 500,
    }  # fmt: skip
    assert (told["block"]["own"], told["block"]["per_hour"]) == (1, 6.0)
    assert grace.pk not in str(told)


def test_no_bonus_is_held_out_that_the_pairs_at_hand_cannot_earn() -> None:
    few = make_pairs(3, question__bonuses__block_examples=2)
    told = progress_of(begin(few, make_worker("AADA")))
    assert told is not None
    # Three pairs fill no round of four; a block of two they do.
    assert told["round"]["can_fill"] is False
    assert told["block"]["can_fill"] is True
