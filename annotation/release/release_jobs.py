"""Makes the releases that requesters ask for: the wish is a row, a job fulfils it."""

import logging
import secrets
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.decisions.verdicts import decide_collection
from annotation.models import OrderState, Release, ReleaseOrder
from annotation.splits.assignment import make_splits
from collector.models import Collection
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.renewed_claim import renewed

log = logging.getLogger(__name__)
# A job that has given no sign for so long has died; one that is at work gives one this often.
SILENT = timedelta(minutes=1)
SIGN_SECONDS = 5.0
BROKEN = "It broke on our side; the server's log says how. Nothing was changed: try again."


class LostClaim(Exception):
    """Another job took the order over, since this one was silent for too long."""


def order_release(collection: Collection, by: str, now: datetime) -> ReleaseOrder | None:
    """Return the new order, None when one is under way already."""
    try:
        with transaction.atomic():
            return ReleaseOrder.objects.create(collection=collection, by=by, asked_at=now)
    except IntegrityError:
        return None


def orders_to_fulfil(now: datetime) -> list[int]:
    """Return the ids of the orders that no living job is at."""
    return list(ReleaseOrder.objects.filter(_free(now)).values_list("pk", flat=True))


def fulfil(order_id: int, now: datetime) -> None:
    """Decide, place and release what the order asks for; one job wins, the others do nothing."""
    claim = secrets.token_hex(16)
    taken = ReleaseOrder.objects.filter(_free(now), pk=order_id)
    if not taken.update(state=OrderState.RUNNING, claim=claim, seen_at=now):
        return
    order = ReleaseOrder.objects.select_related("collection").get(pk=order_id)
    order.claim = claim
    try:
        with renewed(lambda: _mine(order).update(seen_at=timezone.now()), SIGN_SECONDS):
            made, is_new = _make(order, now)
    except LostClaim:
        log.warning("Release of %s: another job has taken it over", order.collection.slug)
    except ActionError as error:
        _end(order, OrderState.FAILED, error.on_page)
    except ProtocolError as error:
        _end(order, OrderState.FAILED, str(error))
    except Exception:
        log.exception("Release of %s", order.collection.slug)
        _end(order, OrderState.FAILED, BROKEN)
    else:
        sentence = "" if is_new else f"Nothing has changed since release {made.number}."
        _end(order, OrderState.DONE, sentence, made)


def _free(now: datetime) -> Q:
    silent = Q(state=OrderState.RUNNING, seen_at__lt=now - SILENT)
    return Q(state=OrderState.WAITING) | silent


def _make(order: ReleaseOrder, now: datetime) -> tuple[Release, bool]:
    """Return the release and whether it is new; raises LostClaim when another job has the order."""
    # A process of the jobs starts without it.
    from annotation.release.publish_release import Watcher, publish_release

    def say(step: str) -> None:
        if not _mine(order).update(step=step, seen_at=timezone.now()):
            raise LostClaim

    say("Deciding questions")
    decide_collection(order.collection, now)
    say("Placing questions")
    make_splits(order.collection, now)
    issued = publish_release(order.collection, None, now, Watcher(say=say))
    return issued.release, issued.is_new


def _mine(order: ReleaseOrder) -> QuerySet[ReleaseOrder]:
    """Return what finds the order while it is still under our claim."""
    return ReleaseOrder.objects.filter(pk=order.pk, claim=order.claim, state=OrderState.RUNNING)


def _end(
    order: ReleaseOrder, state: OrderState, message: str, release: Release | None = None
) -> None:
    _mine(order).update(
        state=state, message=message, release=release, step="", ended_at=timezone.now()
    )
