"""Opens requester and worker accounts for the host."""

import json
import os
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path

from django.db import transaction

from common.storable import storable
from marketplace.models import AccessKey, Requester, Worker
from marketplace.models.identifiers import digest, new_secret
from marketplace.money import funds
from marketplace.router import DATABASE


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
    with transaction.atomic(using=DATABASE):
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

    Raises NotStorable for a name that no column can hold, or that is none.
    """
    token = new_secret()
    worker = storable(
        Worker(
            display_name=name.strip(), country=country, link_digest=digest(token), created_at=now
        )
    )
    worker.save(force_insert=True)
    return worker, token
