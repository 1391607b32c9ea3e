"""Makes the releases that requesters ask for: the wish is a row, a job fulfils it."""

from datetime import datetime

from django.utils import timezone

from annotation.decisions.verdicts import decide_collection
from annotation.models import Release, ReleaseOrder
from annotation.splits.assignment import make_splits


def fulfil(order_id: int, now: datetime) -> None:
    """Decide, place and release what the order asks for; one job wins, the others do nothing."""
    ReleaseOrder.do(order_id, now, _make)


def _make(order: ReleaseOrder) -> None:
    # A process of the jobs starts without it.
    from annotation.release.publish_release import Watcher, publish_release

    def recorded(release: Release, is_new: bool) -> None:
        sentence = "" if is_new else f"Nothing has changed since release {release.number}."
        order.finish(release=release, message=sentence)

    now = timezone.now()
    order.say("Deciding questions")
    decide_collection(order.collection, now)
    order.say("Placing questions")
    make_splits(order.collection, now)
    publish_release(order.collection, None, now, Watcher(say=order.say), recorded=recorded)
