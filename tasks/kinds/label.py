"""Label HITs: workers label what others wrote, by a form that the protocol gives as data."""

from tasks.kinds.forms import FormKind, filled_in
from tasks.kinds.kind import Data, Item
from tasks.kinds.voting import VotingKind, questions_shown, store_votes
from tasks.models import Answer, Lease, Submission, Unit, UnitItem
from tasks.work.passages import passages_of


class LabelKind(FormKind, VotingKind):
    """Labels of texts that others wrote, each a vote."""

    name = "label"

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each text with its passage, and never who wrote it."""
        items = questions_shown(unit)
        passages = passages_of(seed for _, seed, _, _ in items)
        return [
            {"id": item, "text": text, "passage": {**passages[seed], "links": []}}
            for item, seed, text, _ in items
        ]

    def page_state(self, lease: Lease) -> dict[str, object]:
        """Return how many items of the stage the worker has labelled, and how many there are.

        Counted once for the page, whatever their number; what is done on the page comes on top.
        """
        done = Answer.objects.filter(stage=lease.unit.stage_id, worker=lease.worker_id)
        items = UnitItem.objects.filter(unit__stage=lease.unit.stage_id)
        return {"running": {"done": done.count(), "of": items.count()}}

    def store(self, submission: Submission, data: Data) -> None:
        """Write one vote per text: its type is the label, the other fields stand beside it.

        A vote is a row of answers, so that agreement, review, release and the rule of one vote per
        person hold for labels as they do for answers. Expects the transaction of the submission.
        """
        store_votes(submission, filled_in(data))
