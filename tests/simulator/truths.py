"""What must be true: `always` after each act, `quiet` when no act comes and nothing is due."""

from collections.abc import Iterator
from typing import Any

from tests.simulator.life import Life
from tests.simulator.machine import TIME


class Truths:
    """What was promised, against what is stored and paid."""

    def __init__(self, life: Life) -> None:
        self.life = life

    def always(self) -> Iterator[str]:
        """Yield what is wrong now."""
        yield from self.life.said.faults
        self.life.said.faults.clear()
        yield from (f"logged: {line}" for line in self.life.site.errors)
        self.life.site.errors.clear()
        yield from self._books()
        if self.life.is_at_rest:
            self.life.is_at_rest = False
            yield from self._nobody_is_shut_out()

    def quiet(self) -> Iterator[str]:
        """Yield what has not come to an end that somebody can name."""
        for truth in (
            self._work_is_paid,
            self._saved_work_is_paid,
            self._nothing_twice,
            self._nobody_is_shut_out,
            self._nothing_for_nobody,
            self._questions_go_on,
            self._a_release_can_be_made,
        ):
            yield from truth()

    def _books(self) -> Iterator[str]:
        from marketplace.tests.test_money import books_balance
        from tasks.money import book_differences

        yield from (f"books: {one}" for one in book_differences.differences())
        if not books_balance(self.life.requester):
            yield "books: the marketplace's do not balance"
        row = self.life.collection
        row.refresh_from_db()
        if row.spent_cents + row.reserved_cents > row.budget_cents:
            yield "books: more is bound than the budget"

    def _paid(self, lease: Any, *kinds: str) -> list[int]:
        from tasks.models import Payment

        # By whom and of what, not by lease: an old page's late work may be the same work again.
        rows = Payment.objects.exclude(state="withheld").filter(worker=lease.worker_id)
        own = rows.filter(submission__lease__unit=lease.unit_id) | rows.filter(
            key=f"compensation:{lease.unit_id}:{lease.worker_id}"
        )
        return [row.amount_cents for row in own.distinct() if row.kind in kinds]

    def _work_is_paid(self) -> Iterator[str]:
        """Acknowledged work is paid once, at least what its page promised, unless rejected."""
        from tasks.models import Lease

        for key, cents in self.life.said.submitted.items():
            lease = Lease.objects.select_related("submission").get(pk=key)
            work = getattr(lease, "submission", None)
            if work is None:
                yield f"pay: acknowledged work of lease {key} is not there"
            elif work.state not in ("rejected",):
                paid = self._paid(lease, "base", "reward", "compensation", "submission")
                if sum(paid) < cents and work.state in ("approved", "confirmed"):
                    yield f"pay: {paid} for work that promised {cents}, lease {key} {work.state}"

    def _saved_work_is_paid(self) -> Iterator[str]:
        """Whole work that was saved and ran out of time is worth its reward, beside any gift."""
        from tasks.models import Lease

        for key, cents in self.life.said.saved.items():
            lease = Lease.objects.get(pk=key)
            others = Lease.objects.filter(unit=lease.unit_id, worker=lease.worker_id)
            if lease.state != "expired" or others.filter(submission__isnull=False).exists():
                continue
            paid = sum(self._paid(lease, "compensation"))
            if lease.draft is not None and paid < cents and lease.compensated:
                yield f"saved: {paid} cents for saved work worth {cents}"

    def _nothing_twice(self) -> Iterator[str]:
        """Nobody is paid the whole of a unit twice."""
        from django.db.models import Count, Sum

        from tasks.models import Payment

        rows = Payment.objects.filter(kind__in=("base", "reward", "submission")).order_by()
        for row in (
            rows.exclude(state="withheld")
            .values("worker", "submission__lease__unit")
            .annotate(n=Count("pk"), cents=Sum("amount_cents"))
        ):
            if row["n"] > 1:
                yield f"twice: {row['n']} payments of one unit to one person"

    def _nobody_is_shut_out(self) -> Iterator[str]:
        """A stage that the marketplace was told has nothing for somebody has nothing for them."""
        from collector.protocols.texts import current_text
        from tasks.models import Consent, Eligibility
        from tasks.people.eligibility import has_work
        from tasks.posting.hits import is_open

        text = current_text(self.life.collection, "consent")
        for row in Eligibility.objects.filter(worker__identity__isnull=False, is_closed=True):
            declined = Consent.objects.filter(text=text, worker=row.worker, agreed=False)
            if is_open(row.stage) and not declined.exists() and has_work(row.worker, row.stage):
                yield f"shut out of {row.stage.name} while there is work"

    def _nothing_for_nobody(self) -> Iterator[str]:
        """No place is open for questions of people who are left out or have withdrawn."""
        from django.db.models import F

        from annotation.decisions.counted_work import excluded_workers
        from tasks.models import Unit

        out = excluded_workers(self.life.collection)
        for unit in Unit.objects.filter(closed=False, taken__lt=F("redundancy")).order_by("pk"):
            if unit.stage.state != "open" or unit.stage.name.endswith("qualification"):
                continue
            of = [item.question for item in unit.items.select_related("question__worker")]
            if of and all(
                q and q.worker and (q.worker_id in out or q.worker.withdrawn_at) for q in of
            ):
                why = "excluded" if of[0].worker_id in out else "withdrawn"
                yield f"bought for nothing: a place of {unit.stage.name}, its writer {why}"

    def _questions_go_on(self) -> Iterator[str]:
        """A question is decided, or somebody can answer it, or its stage is not open."""
        from django.db.models import F

        from annotation.decisions.counted_work import excluded_workers
        from tasks.models import Question, Unit

        out = excluded_workers(self.life.collection)
        self.life.collection.refresh_from_db()
        stage = next((one for one in self.life.stages if one.name == "answer"), None)
        if self.life.collection.state != "collecting" or stage is None or stage.state != "open":
            return
        waiting = Question.objects.filter(stage__name="question").exclude(
            verdict__outcome__in=("kept", "dropped")
        )
        for question in waiting.exclude(worker__in=out).exclude(worker__withdrawn_at__isnull=False):
            units = Unit.objects.filter(stage=stage, items__question=question, closed=False)
            if units.exists() and not units.filter(submitted__lt=F("redundancy")).exists():
                yield "stranded: a question waits for answers that nobody is asked for"

    def _a_release_can_be_made(self) -> Iterator[str]:
        """A release can be made, or says what to do, and that helps."""
        from annotation.decisions.verdicts import decide_collection
        from annotation.models import ReleaseOrder
        from annotation.release import release_jobs

        def attempt() -> str:
            order = release_jobs.order_release(self.life.collection, "rita", TIME.now())
            if order is None:
                return ""
            release_jobs.fulfil(order.pk, TIME.now())
            order = ReleaseOrder.objects.get(pk=order.pk)
            return "" if order.state == "done" else order.message

        if self.life.collection.state == "draft":
            return
        if attempt():
            decide_collection(self.life.collection, TIME.now())
            again = attempt()
            if again and "no question to release yet" not in again:
                yield f"release: {again[:90]}"
