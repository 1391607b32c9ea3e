"""What must be true: `always` after each act, `quiet` when no act comes and nothing is due.

Each truth compares what somebody was told with what is stored, shown and paid; it has the name of
the promise, and yields a sentence for each time that it was broken.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q

from tests.simulator import again, books, worlds
from tests.simulator.life import Life
from tests.simulator.machine import TIME

# What a release may ask for first, and nobody of a run does.
SAYS_WHAT_TO_DO = re.compile("no question to release yet|difficulty", re.IGNORECASE)


class Truths:
    """What was promised, against what is so."""

    def __init__(self, life: Life) -> None:
        self.life, self._version = life, (0,)

    def always(self) -> Iterator[str]:
        """Yield what is wrong now."""
        yield from self.life.said.faults
        self.life.said.faults.clear()
        yield from (f"logged: {line}" for line in self.life.site.errors)
        self.life.site.errors.clear()
        version = books.version()
        if version != self._version:
            self._version = version
            yield from books.imbalances()
            yield from self.it_costs_no_more_than_was_said()
        if self.life.is_at_rest:
            self.life.is_at_rest = False
            yield from self.nobody_is_shut_out()
            yield from self.pages_count_what_is_there()
            yield from self.pages_of_dialogs_show_what_was_said()

    def quiet(self) -> Iterator[str]:
        """Yield what has not come to an end that somebody can name."""
        for truth in (
            self.work_is_paid_as_its_page_said,
            self.saved_work_is_paid,
            self.no_work_is_paid_twice,
            self.what_is_owed_is_paid,
            self.both_books_tell_the_same,
            self.bonuses_count_what_was_approved,
            self.a_merged_account_has_nothing,
            self.nothing_stays_bound,
            self.nobody_is_shut_out,
            self.nothing_is_bought_for_nobody,
            self.a_program_has_what_it_asked_for,
            self.pages_count_what_is_there,
            self.questions_go_on,
            self.dialogs_are_settled,
            self.moves_are_kept_and_paid,
            self.a_release_can_be_made,
            self.releases_keep_ids_and_names,
            self.a_release_is_the_same_when_it_is_made_again,
        ):
            yield from truth()

    # Money.
    def it_costs_no_more_than_was_said(self) -> Iterator[str]:
        """What a collection costs at most rises by nothing that no page and no change says."""
        said = self.life.said.maximum
        if said is not None and (now := books.maximum_said(self.life.collection)) > said:
            yield f"cost: at most {now} cents, where its page said {said}"
        row = self.life.collection
        bound = row.spent_cents + row.reserved_cents - books.given_beside(row)
        if said is not None and bound > (row.maximum_cents or 0):
            yield f"cost: {bound} cents are bound, where {row.maximum_cents} is the most"

    def _paid(self, lease: Any) -> int:
        """Return the cents that somebody has for a unit, bonuses apart."""
        from tasks.models import Payment

        # By whom and of what, not by lease: an old page's late work may be the same work again.
        of = Q(submission__lease__unit=lease.unit_id) | Q(
            key=f"compensation:{lease.unit_id}:{lease.worker_id}"
        )
        rows = Payment.objects.filter(of, worker=lease.worker_id)
        rows = rows.exclude(state="withheld").exclude(kind="bonus").distinct()
        return sum(row.amount_cents for row in rows)

    def work_is_paid_as_its_page_said(self) -> Iterator[str]:
        """Acknowledged work is there, and paid what its page promised, unless it was rejected."""
        from tasks.models import Lease

        for key, cents in self.life.said.submitted.items():
            lease = Lease.objects.select_related("submission", "unit__stage").get(pk=key)
            work = getattr(lease, "submission", None)
            if work is None:
                yield f"pay: acknowledged work of lease {key} is not there"
                continue
            is_paid = work.state in ("approved", "confirmed")
            # Of a dialog each turn is paid.
            if is_paid and lease.unit.stage.kind != "dialog" and self._paid(lease) < cents:
                yield f"pay: {self._paid(lease)} for {cents} cents, lease {key} {work.state}"

    def saved_work_is_paid(self) -> Iterator[str]:
        """Whole work that was saved and ran out of time is worth its reward, beside any gift."""
        from tasks.models import Lease

        self.life.collection.refresh_from_db()
        row = self.life.collection
        free = row.budget_cents - row.spent_cents - row.reserved_cents
        for key, cents in self.life.said.saved.items():
            lease = Lease.objects.get(pk=key)
            others = Lease.objects.filter(unit=lease.unit_id, worker=lease.worker_id)
            others = others.exclude(pk=key)
            if lease.state != "expired" or others.exists() or hasattr(lease, "submission"):
                continue
            paid = self._paid(lease)
            if lease.draft is not None and paid < cents <= free:
                yield f"saved: {paid} cents for saved work worth {cents}"

    def no_work_is_paid_twice(self) -> Iterator[str]:
        """Nobody is paid the whole of a unit twice."""
        from tasks.models import Payment

        rows = Payment.objects.exclude(state="withheld").order_by()
        rewards = rows.filter(kind="reward", submission__isnull=False)
        counted = rewards.values("worker", "submission__lease__unit").annotate(n=Count("pk"))
        for row in counted:
            unit, worker = row["submission__lease__unit"], row["worker"]
            share = rows.filter(key=f"compensation:{unit}:{worker}").count()
            if row["n"] + share > 1:
                yield f"twice: {row['n']} rewards and {share} compensations of a unit to one person"

    def what_is_owed_is_paid(self) -> Iterator[str]:
        """A payment that is due is paid, or waits for its worker, who has a HIT for it."""
        from tasks.models import Payment, Posting

        for row in Payment.objects.filter(state="due").select_related("worker__identity"):
            live = Posting.objects.filter(worker=row.worker_id, state="live")
            if not live.exists():
                is_known = hasattr(row.worker, "identity")
                who = "somebody" if is_known else "somebody erased"
                yield f"owed: a {row.kind} to {who} is due, and nothing will pay it"

    def both_books_tell_the_same(self) -> Iterator[str]:
        """What is confirmed here is what the marketplace owes or has paid."""
        ours, theirs = books.confirmed_and_owed("Rita")
        if ours != theirs:
            yield f"books: {ours} cents are confirmed, {theirs} are on the marketplace's"

    def bonuses_count_what_was_approved(self) -> Iterator[str]:
        """Work that was approved days ago counts for the bonuses of its stage, unless excluded."""
        from annotation.decisions.counted_work import excluded_workers
        from tasks.models import Submission

        long_ago = TIME.now() - timedelta(days=4)
        rows = Submission.objects.filter(
            state="approved", counts=True, example_count=None, received_at__lt=long_ago
        ).filter(lease__unit__stage__bonus_fund__isnull=False)
        for row in rows.exclude(lease__worker__in=excluded_workers(self.life.collection)):
            yield f"bonuses: approved work of {row.received_at:%d %H:%M} counts for none"

    def a_merged_account_has_nothing(self) -> Iterator[str]:
        """Whatever an account had is that of the kept account, but for a HIT that both took."""
        from marketplace.models import Assignment, LedgerEntry

        of_both = Assignment.objects.filter(hit__assignments__worker=F("worker__merged_into"))
        rows = [
            model.objects.filter(worker__merged_into__isnull=False)
            for model in (Assignment, LedgerEntry)
        ]
        for row in [*rows[0].exclude(pk__in=of_both.values("pk")), *rows[1]]:
            yield f"merged: a {type(row).__name__} of an account that is part of another"

    def nothing_stays_bound(self) -> Iterator[str]:
        """A finished collection holds money for nothing but HITs that wait for their one worker."""
        from tasks.models import Posting

        row = self.life.collection
        row.refresh_from_db()
        waiting = Posting.objects.filter(state="live", worker__isnull=False)
        if row.state == "finished" and row.reserved_cents and not waiting.exists():
            yield f"bound: {row.reserved_cents} cents of a finished collection"

    # Places.
    def nobody_is_shut_out(self) -> Iterator[str]:
        """A stage that the marketplace was told has nothing for somebody has nothing for them."""
        from collector.protocols.creation import current_text
        from tasks.hits import is_open
        from tasks.models import Consent, Eligibility
        from tasks.people.eligibility import has_work

        text = current_text(self.life.collection, "consent")
        for row in Eligibility.objects.filter(worker__identity__isnull=False, is_closed=True):
            declined = Consent.objects.filter(text=text, worker=row.worker, agreed=False)
            if is_open(row.stage) and not declined.exists() and has_work(row.worker, row.stage):
                yield f"shut out of {row.stage.name} while there is work"

    def nothing_is_bought_for_nobody(self) -> Iterator[str]:
        """No place is open for questions of people who are left out or have withdrawn."""
        from tasks.models import Submission, Unit
        from tasks.work.units import left_out

        out = {each.pk for each in left_out(self.life.collection.pk)}
        for unit in Unit.objects.filter(closed=False, taken__lt=F("redundancy")).order_by("pk"):
            if unit.stage.state != "open" or unit.stage.name.endswith("qualification"):
                continue
            of = [item.question for item in unit.items.select_related("question")]
            if of and all(q and q.worker_id in out for q in of):
                yield f"bought for nothing: a place of {unit.stage.name}, its writer is left out"
        again = Submission.objects.filter(replaced=True, lease__unit__closed=False).filter(
            lease__unit__stage__state="open", lease__unit__stage__collection__state="collecting"
        )
        for row in again.exclude(lease__worker__in=out).select_related("lease__unit"):
            if row.lease.unit.taken < row.lease.unit.redundancy:
                yield "bought for nothing: a place for work that counts again"

    def a_program_has_what_it_asked_for(self) -> Iterator[str]:
        """What is done once is done once; what was taken away stays so until it is given again."""
        from marketplace.models import Assignment, QualificationGrant

        work = Assignment.objects.filter(hit__hit_type__is_once=True, hit__requester__name="Leo")
        done = work.filter(state__in=("submitted", "approved", "rejected")).order_by()
        people = [visitor.worker.pk for visitor in self.life.workers]
        for row in (
            done.filter(worker__in=people).values("worker", "hit__hit_type").annotate(n=Count("pk"))
        ):
            if row["n"] > 1 and not self.life.seen["an approval during a merge of accounts"]:
                yield f"programs: {row['n']} HITs of a kind that is done once"
        for key, worker in self.life.said.taken_away:
            grants = QualificationGrant.objects.filter(
                qualification_type__qualification_type_id=key
            )
            if grants.filter(worker__worker_id=worker, is_revoked=False).exists():
                yield "programs: a qualification that was taken away is there again"

    # What pages say.
    def pages_count_what_is_there(self) -> Iterator[str]:
        """The figures about questions are those that one counts by hand."""
        from tasks.models import Lease, Question
        from tasks.work.units import left_out, made_by

        asked = Question.objects.filter(stage__collection=self.life.collection)
        asked = asked.exclude(stage__name__endswith="qualification").select_related("worker")
        there = [one for one in asked.select_related("verdict") if not self._is_withdrawn(one)]
        # Of a dialog, both have made its questions.
        left = asked.filter(made_by(left_out(self.life.collection.pk)))
        honest = [one for one in there if one not in left]
        kept, dropped, open_ones = (
            [one for one in rows if self._outcome(one) in outcomes]
            for rows, outcomes in (
                (there, ("kept",)),
                (honest, ("dropped",)),
                (honest, ("waiting", "")),
            )
        )
        by_votes = [one for one in dropped if not one.verdict.overridden]
        fallen = [one for one in honest if self._is_fallen(one)]
        cut_off = Lease.objects.filter(state="expired", compensated=False, submission=None)
        late = cut_off.filter(session__signed_until__lt=TIME.now() - timedelta(minutes=10))
        unpaid = list(late.exclude(draft=None))
        for page, words, rows in (
            ("", r"In the dataset</dt><dd>([\d,]+)", kept),
            ("releases/", r"<b>([\d,]+)</b> questions? would be released", kept),
            ("", r"([\d,]+) questions? excluded by the votes", by_votes),
            ("", r"([\d,]+) decisions? by hand to make again", fallen),
            ("", r"([\d,]+) payments? for cut-off work not made yet", unpaid),
            ("finish/", r"([\d,]+) questions? without enough answers: excluded", open_ones),
        ):
            text = self.life.browsers[0].get(f"/collections/{worlds.SLUG}/{page}").content.decode()
            said = re.search(words, text)
            is_said = said is not None or (rows and "Needs your attention" in text)
            if is_said and int(said[1].replace(",", "") if said else 0) != len(rows):
                yield f"figures: {said[0] if said else words!r} at {page}, {len(rows)} by hand"

    def _is_fallen(self, question: Any) -> bool:
        """Tell whether a hand decided, and its decision does not hold any more."""
        if not hasattr(question, "verdict") or question.verdict.overridden:
            return False
        last = question.verdict.overrides.order_by("pk").last()
        return bool(last and not last.follows_votes)

    def _is_withdrawn(self, question: Any) -> bool:
        return bool(question.worker and question.worker.withdrawn_at)

    def _outcome(self, question: Any) -> str:
        return str(question.verdict.outcome) if hasattr(question, "verdict") else ""

    # Decisions.
    def questions_go_on(self) -> Iterator[str]:
        """A question is decided, or somebody can answer it, or its stage is not open."""
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
            units = Unit.objects.filter(stage=stage, items__question=question)
            open_ones = units.filter(closed=False, submitted__lt=F("redundancy"))
            if units.exists() and not open_ones.exists():
                yield "stranded: a question waits for answers that nobody is asked for"

    def dialogs_are_settled(self) -> Iterator[str]:
        """A dialog that is over is settled, and nobody waits for ever."""
        from tasks.models import Dialog, Ticket

        for dialog in Dialog.objects.filter(settled=False).order_by("pk"):
            yield f"dialogs: {dialog.state} and not settled"
        for ticket in Ticket.objects.exclude(state="done").order_by("pk"):
            yield f"dialogs: somebody is {ticket.state} for ever"

    def pages_of_dialogs_show_what_was_said(self) -> Iterator[str]:
        """Every page of a dialog that is open and heard shows as many turns as there are."""
        from tasks.models import Turn

        talks = self.life.talks
        for page in () if talks.is_redis_away else talks.at.values():
            dialog, n_shown, _ = page.place
            n_turns = Turn.objects.filter(dialog=dialog).count()
            if dialog and page.conversation.phase == "talking" and n_shown < n_turns:
                yield f"dialogs: a page shows {n_shown} of {n_turns} turns"

    def moves_are_kept_and_paid(self) -> Iterator[str]:
        """A move that a page was told is taken is stored, and turns pay what the page showed."""
        from tasks.models import Payment, Turn

        ids = Turn.objects.values_list("question_message", "answer_message")
        stored = {str(one) for pair in ids for one in pair}
        for page in self.life.talks.pages:
            for move in page.conversation.taken:
                if move["type"] in ("ask", "answer") and move["id"] not in stored:
                    yield f"dialogs: the taken move {move['type']} is not stored"
            rows = Payment.objects.filter(lease=page.tab.lease, key__startswith="turns:")
            paid = sum(row.amount_cents for row in rows.exclude(state="withheld"))
            shown = page.conversation.state.get("earned", {}).get("turns_cents", 0)
            if paid < shown:
                yield f"dialogs: {paid} cents for turns that showed {shown}"

    # Releases.
    def a_release_can_be_made(self) -> Iterator[str]:
        """A release can be made, or says what to do, and that helps."""
        from annotation.decisions.verdicts import decide_collection
        from annotation.models import ReleaseOrder
        from annotation.release import publish_release

        def attempt() -> str:
            order = ReleaseOrder.ask(
                collection=self.life.collection, by="rita", asked_at=TIME.now()
            )
            if order is None:
                return ""
            publish_release.fulfil(order.pk, TIME.now())
            order = ReleaseOrder.objects.get(pk=order.pk)
            self.life.seen["a release"] += order.state == "done"
            return "" if order.state == "done" else order.message

        self.life.collection.refresh_from_db()
        if self.life.collection.state == "draft":
            return
        if attempt():
            decide_collection(self.life.collection, TIME.now())
            again = attempt()
            if again and not SAYS_WHAT_TO_DO.search(again):
                yield f"release: {again[:90]}"

    def releases_keep_ids_and_names(self) -> Iterator[str]:
        """An id stands for the same question in every release, and no release names a person."""
        import pyarrow.parquet as parquet

        from annotation.models import Release

        names = [visitor.worker.worker_id.encode() for visitor in self.life.workers]
        names += [f'"{name}"'.encode() for name in worlds.WORKERS]
        known: dict[str, str] = {}
        for release in Release.objects.order_by("number"):
            for path in sorted(release.place.rglob("*")):
                if path.is_file() and any(name in path.read_bytes() for name in names):
                    yield f"names: {path.name} of a release names a person"
            for path in sorted(release.place.rglob("*questions*.parquet")):
                table = parquet.read_table(path)
                columns = table.to_pydict()
                texts = columns.get("question") or columns.get("text") or []
                for key, text in zip(columns.get("id", ()), texts, strict=False):
                    if known.setdefault(key, text) != text:
                        yield "ids: an id stands for another question than in a release before"

    def a_release_is_the_same_when_it_is_made_again(self) -> Iterator[str]:
        """The private log of a collection, replayed elsewhere, gives every file byte for byte."""
        if told := again.different(self.life):
            yield f"replay: {told}"
