"""Accounts: opened, signed in to, merged, and known by the ids that people had at MTurk."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import check_password, make_password
from django.db import IntegrityError
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from common.storable import storable
from marketplace import funds
from marketplace.models import (
    LIVE,
    AccessKey,
    Assignment,
    BonusPayment,
    Invitation,
    LedgerEntry,
    Message,
    PaymentReport,
    Payout,
    PayoutLine,
    QualificationGrant,
    QualificationRequest,
    Requester,
    Worker,
    WorkerBlock,
    WorkerProfile,
)
from marketplace.models.identifiers import digest, new_secret
from marketplace.models.people import sign_in_name_of
from marketplace.router import atomic


@dataclass(frozen=True)
class RequesterKeys:
    """What a requester's client needs, as it stands in the keys file."""

    endpoint_url: str
    access_key_id: str
    secret_access_key: str
    entry_secret: str
    requester_name: str


def open_requester(
    name: str, contact: str, balance_cents: int, now: datetime, payment_terms: str = ""
) -> Requester:
    """Return the requester of this name, opened with this credit unless there was one already.

    A contact or terms of payment that are given replace those of before.
    """
    # On every database alike: SQLite would keep what is too long for PostgreSQL.
    told = {"contact": contact, "payment_terms": payment_terms}
    storable(Requester(name=name, created_at=now, **told))
    with atomic():
        requester, is_new = Requester.objects.get_or_create(name=name, defaults={"created_at": now})
        if is_new and balance_cents:
            funds.credit(requester, balance_cents, "opening", now)
        changes = {field: value for field, value in told.items() if value}
        if changes:
            Requester.objects.filter(pk=requester.pk).update(**changes)
            requester.refresh_from_db()
    return requester


def keys_of(requester: Requester, endpoint_url: str, now: datetime) -> RequesterKeys:
    """Return the requester's oldest living key, made now if there is none."""
    key = requester.access_keys.filter(revoked_at=None).order_by("pk").first()
    if key is None:
        key = AccessKey.objects.create(requester=requester, created_at=now)
    return RequesterKeys(
        endpoint_url=endpoint_url,
        access_key_id=key.access_key_id,
        secret_access_key=key.secret_access_key,
        entry_secret=requester.entry_secret,
        requester_name=requester.name,
    )


class OtherFile(ValueError):
    """What stands in the place of a keys file is not this requester's; the message is one line."""


def check_keys_file(name: str, path: Path) -> None:
    """Raise OtherFile unless the keys of the requester `name` stand there, or nothing does."""
    if not path.exists():
        return
    try:
        found = json.loads(path.read_text("utf-8"))
        told = {field.name: str(found[field.name]) for field in fields(RequesterKeys)}
    except (ValueError, KeyError, TypeError, OSError):
        raise OtherFile(
            f"{path} is there and holds something else: give the keys another file."
        ) from None
    if told["requester_name"] != name:
        raise OtherFile(
            f"{path} holds the keys of {told['requester_name']!r}: give those of {name!r} another "
            "file, or move it away."
        )
    ours = AccessKey.objects.filter(requester__name=name)
    if not ours.filter(access_key_id=told["access_key_id"]).exists():
        raise OtherFile(
            f"{path} holds keys of {name!r} that this marketplace has not given: name the database "
            "that has, or move the file away."
        )


def write_keys(keys: RequesterKeys, path: Path) -> None:
    """Write the keys as JSON that only the owner can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(keys), file, indent=2)
        file.write("\n")
    draft.replace(path)


def open_worker(name: str, country: str, now: datetime) -> tuple[Worker, str]:
    """Return a new worker and the token of their personal link, which is not kept in clear.

    Raises NotStorable for an empty name, and for one that no column can hold.
    """
    token = new_secret()
    worker = storable(
        Worker(
            display_name=name.strip(), country=country, link_digest=digest(token), created_at=now
        )
    )
    worker.save(force_insert=True)
    return worker, token


SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 200
LONGEST_NAME = 80


class PasswordError(ValueError):
    """The name or password cannot be had; the message says what to change."""


def typed_name(text: str) -> str:
    """Return a name without needless blanks; raises PasswordError if it is empty or too long.

    Some letters become many in the form in which names are compared: these count.
    """
    name = " ".join(text.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME or len(sign_in_name_of(name)) > 2 * LONGEST_NAME:
        raise PasswordError(_("Write a name of 1 to %(most)s characters.") % {"most": LONGEST_NAME})
    return name


def choose_password(worker: Worker, name: str, password: str) -> None:
    """Set the name and password by which the worker signs in.

    Raises PasswordError for a name that is taken or too long, and for a short password.
    """
    name = typed_name(name)
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise PasswordError(
            _("Choose a password of %(least)s to %(most)s characters.")
            % {"least": SHORTEST_PASSWORD, "most": LONGEST_PASSWORD}
        )
    if sign_in_name_of(password) == sign_in_name_of(name):
        raise PasswordError(_("Choose a password that is not your name."))
    worker.sign_in_name, worker.password = sign_in_name_of(name), make_password(password)
    try:
        with atomic():
            worker.save(update_fields=["sign_in_name", "password"])
    except IntegrityError:
        raise PasswordError(_("This name is taken. Choose another one.")) from None


def worker_by_password(name: str, password: str) -> Worker | None:
    """Return the worker of this name and password; an unknown name takes as long as a wrong one."""
    worker = Worker.objects.filter(sign_in_name=sign_in_name_of(name)).exclude(password="").first()
    if worker is None:
        make_password(password)
        return None
    return worker if check_password(password, worker.password) else None


def renew_link(worker: Worker) -> str:
    """Return the token of a new personal link; the one before stops working."""
    token = new_secret()
    worker.link_digest = digest(token)
    worker.save(update_fields=["link_digest"])
    return token


# Rows that simply become the other account's.
MOVED = (BonusPayment, LedgerEntry, Payout, Message, PaymentReport, Invitation)


class MergeError(ValueError):
    """The accounts cannot be made one; the message says why."""


def merge(kept: Worker, second: Worker, now: datetime) -> int:
    """Move all of the second account to the kept one and close it, its id naming the other now.

    Returns how many pieces of work stay under the second id, because both did the same HIT; what
    those still earn is owed to the kept account. Raises MergeError for one and the same account,
    one that was merged or erased before, a program's and a person's, and while the second one
    stands on an open payout list.
    """
    with atomic():
        pair = Worker.objects.select_for_update().order_by("pk").in_bulk([kept.pk, second.pk])
        kept, second = pair[kept.pk], pair[second.pk]
        if kept == second:
            raise MergeError("These are one account already. Choose two different ones.")
        if kept.merged_into_id or second.merged_into_id or not kept.is_active:
            raise MergeError("One of these accounts is closed or merged. Choose the open one.")
        if kept.is_simulated != second.is_simulated:
            raise MergeError("One of these accounts is simulated: no person is behind it.")
        if kept.erased_at or second.erased_at:
            raise MergeError("One of these accounts was erased: nobody can say whose it was.")
        if PayoutLine.objects.filter(worker=second, payout=None, dropped_at=None).exists():
            raise MergeError(
                f"{second.worker_id} stands on an open payout list. Confirm that payment or take "
                "it off the list, then merge."
            )
        _join_profiles(kept, second)
        both = Assignment.objects.filter(hit=OuterRef("hit"), worker=kept, state__in=LIVE)
        mine = Assignment.objects.filter(worker=second)
        double = mine.filter(state__in=LIVE, hit__in=Subquery(both.values("hit")))
        left = list(double.values_list("pk", flat=True))
        # Both may have accepted in one form, if they shared a browser.
        mine.exclude(pk__in=left).update(worker=kept, form_key="")
        n_left = len(left)
        for model in MOVED:
            model._default_manager.filter(worker=second).update(worker=kept)
        PayoutLine.objects.filter(worker=second).update(worker=kept)
        _move_unless_there(QualificationGrant, "qualification_type", kept, second)
        _move_unless_there(QualificationRequest, "qualification_type", kept, second)
        _move_unless_there(WorkerBlock, "requester", kept, second)
        second.sessions.all().delete()
        Worker.objects.filter(merged_into=second).update(merged_into=kept)
        second.merged_into, second.is_active, second.link_digest = kept, False, None
        second.sign_in_name = None
        second.save()
    return n_left


def _move_unless_there(
    model: type[QualificationGrant] | type[QualificationRequest] | type[WorkerBlock],
    field: str,
    kept: Worker,
    second: Worker,
) -> None:
    """Move rows that the kept account has none of; of two, the kept account's own counts."""
    there = model._default_manager.filter(worker=kept).values(field)
    rows: QuerySet[QualificationGrant] = model._default_manager.filter(worker=second)  # type: ignore[assignment]
    rows.exclude(**{f"{field}__in": there}).update(worker=kept)
    rows.delete()


def _join_profiles(kept: Worker, second: Worker) -> None:
    """Fill what the kept account's profile lacks from the second one's, which is then gone."""
    other = WorkerProfile.objects.filter(worker=second).first()
    if other is None:
        return
    named_by = list(other.named_by.exclude(hits__assignments__worker=kept))
    other.delete()
    own, _ = WorkerProfile.objects.get_or_create(worker=kept)
    for name in ("mail", "mturk_id", "prolific_id", "n_approved_before", "percent_approved_before"):
        if getattr(own, name) is None:
            setattr(own, name, getattr(other, name))
    if not own.payout_way:
        own.payout_way, own.payout_to = other.payout_way, other.payout_to
        own.payout_name = other.payout_name
    own.notes = "\n".join(filter(None, [own.notes, other.notes]))
    own.save()
    # Who named the second account by another id must not learn this one.
    if own.mturk_id == other.mturk_id:
        own.named_by.add(*named_by)


def workers_named(
    ids: Iterable[str], requester_id: int, *, is_awaiting: bool = False
) -> dict[str, Worker]:
    """Return the accounts that these ids name, by id; unknown ones are left out.

    An id is one given out here or, for people who were imported, the one they had at MTurk, so that
    lists of old keep their meaning. That of a second account goes on naming the person. A place
    that only others keep for somebody is unknown, unless the requester is awaiting them too.
    """
    wanted = set(ids)
    rows = Worker.objects.select_related("merged_into", "profile").filter(
        Q(worker_id__in=wanted) | Q(profile__mturk_id__in=wanted)
    )
    if not is_awaiting:
        theirs = WorkerProfile.objects.filter(named_by=requester_id).values("worker")
        rows = rows.exclude(~Q(pk__in=theirs), is_awaited=True, merged_into=None)
    old, own = {}, {}
    for row in rows:
        account = row.merged_into or row
        own[row.worker_id] = account
        if profile := getattr(row, "profile", None):
            old[profile.mturk_id or ""] = account
    # Should an old id be somebody else's here, the one given out here counts.
    _remember([row for name, row in old.items() if name in wanted - own.keys()], requester_id)
    return {name: account for name, account in {**old, **own}.items() if name in wanted}


def _remember(named: list[Worker], requester_id: int) -> None:
    """Keep that the requester calls these people by their old ids.

    A worker who has taken a HIT of theirs is known to them by another id, which does not change.
    """
    took = Assignment.objects.filter(hit__requester=requester_id, worker__in=named)
    known = set(took.values_list("worker", flat=True)) if named else set()
    for row in named:
        if row.pk not in known:
            row.profile.named_by.add(requester_id)


def await_worker(old_id: str, requester_id: int, now: datetime) -> Worker:
    """Return an account for somebody who has not come: it is theirs once they come by this id."""
    try:
        with atomic():
            worker = Worker.objects.create(
                display_name=old_id, is_active=False, is_awaited=True, created_at=now
            )
            profile = WorkerProfile.objects.create(worker=worker, mturk_id=old_id)
            profile.named_by.add(requester_id)
    except IntegrityError:
        # Somebody else named them meanwhile.
        return workers_named([old_id], requester_id, is_awaiting=True)[old_id]
    return worker


def forget_name(worker: Worker, old_id: str) -> None:
    """Drop a worker's old id unless it is this one: who named them by it must not read this one."""
    own = WorkerProfile.objects.filter(worker=worker, mturk_id__isnull=False)
    for profile in own.exclude(mturk_id=old_id):
        profile.named_by.clear()
        profile.mturk_id = None
        profile.save(update_fields=["mturk_id"])


def take_place(kept: Worker, old_id: str, now: datetime) -> None:
    """Give a worker what was kept for the person with this old id; expects a transaction."""
    forget_name(kept, old_id)
    awaited = Worker.objects.filter(is_awaited=True, merged_into=None, profile__mturk_id=old_id)
    # A program is nobody's place.
    if (second := awaited.first()) and kept.is_active and not kept.is_simulated:
        merge(kept, second, now)


def old_ids_of(requester_id: int, ids: Iterable[str] | None = None) -> dict[str, str]:
    """Return the old ids that a requester knows workers by, by (these) ids given out here."""
    profiles = WorkerProfile.objects.filter(named_by=requester_id, mturk_id__isnull=False)
    if ids is not None:
        profiles = profiles.filter(worker__worker_id__in=ids)
    rows = profiles.values_list("worker__worker_id", "mturk_id")
    return {own: str(old) for own, old in rows}


def with_old_ids(requester_id: int, reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply of the API with each worker as the requester calls them."""
    rows = [
        row
        for value in reply.values()
        for row in (value if isinstance(value, list) else [value])
        if isinstance(row, dict) and "WorkerId" in row
    ]
    old = old_ids_of(requester_id, [row["WorkerId"] for row in rows]) if rows else {}
    for row in rows:
        row["WorkerId"] = old.get(row["WorkerId"], row["WorkerId"])
    return reply
