"""What a worker's page is told, as one JSON document: never more than its role may see."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from collector.models import CollectionText, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import SkippingTable
from tasks.models import Lease
from tasks.pages.wording import currency, fill_placeholders, markdown, pay
from tasks.people.lease_context import lease_token
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.registry import kind_of

URLS = (
    "draft",
    "submit",
    "answer",
    "advice",
    "article",
    "search",
    "extend",
    "problem",
    "preferences",
    "instructions_seen",
)
DEFAULTS = {
    "text_size": "m",
    "theme": "auto",
    "spacing": "normal",
    "sounds": False,
    "instructions_open": False,
}


# What the address of the frame may say of how somebody likes pages, and which preference it is.
FRAME_PREFERENCES = {
    "workerTheme": ("theme", ("light", "dark")),
    "workerTextSize": ("text_size", ("l", "xl")),
}


def preferences_asked_for(query: Mapping[str, str]) -> dict[str, str]:
    """Return the preferences that the frame's address asks for: those of the page around it."""
    return {
        preference: query[name]
        for name, (preference, known) in FRAME_PREFERENCES.items()
        if query.get(name) in known
    }


def shared_state(
    stage: Stage,
    words: CollectionText,
    *,
    reward_cents: int,
    mode: str,
    seen: bool,
    preferences: dict[str, Any],
    n_items: int,
) -> dict[str, Any]:
    """Return what every page of the stage is told that has these words, pay and preferences."""
    parameters = parameters_of(stage.collection)
    table: StageTable = parameters.stages()[stage.name]
    limits = kind_of(stage).limits(table, parameters)
    if isinstance(table, SkippingTable):
        limits["max_skips"] = table.most_skips(n_items)
    return {
        "kind": stage.kind,
        "mode": mode,
        "title": title_of(table),
        "reward": pay(reward_cents, table, parameters),
        "money": currency(parameters),
        "minutes": table.expected_minutes,
        "requester": {
            "name": stage.collection.requester_name,
            "contact": stage.collection.requester_contact,
        },
        "limits": limits,
        "urls": _urls() if mode == "work" else {},
        "instructions": {
            "version": words.version,
            "html": markdown(
                fill_placeholders(
                    words.markdown, stage.collection, parameters, stage.name, reward_cents
                )
            ),
            "seen": seen,
        },
        "preferences": preferences,
    }


def _urls() -> dict[str, str]:
    """Return what the page may call; the sockets of dialogs can have an address of their own."""
    return {name: reverse(f"hit_{name}") for name in URLS} | {"socket": settings.SOCKET_URL}


def own_state(lease: Lease, now: datetime) -> dict[str, Any]:
    """Return what only this stay's page is told; its items and its draft stand beside it."""
    return {
        "token": lease_token(lease),
        "server_now": now.timestamp(),
        "expires_at": lease.expires_at.timestamp(),
        "draft_version": lease.draft_version,
        **kind_of(lease.unit.stage).page_state(lease),
    }


def preview_state(now: datetime) -> dict[str, Any]:
    """Return what only a preview is told: nothing, since nobody is known yet."""
    return {
        "token": "",
        "server_now": now.timestamp(),
        "expires_at": now.timestamp(),
        "draft_version": 0,
    }


def preferences_of(lease: Lease, asked: Mapping[str, str]) -> dict[str, Any]:
    """Return how the lease's worker likes their pages; asked: by the page around this one."""
    chosen = {**DEFAULTS, **asked, **lease.worker.preferences}
    return {name: chosen[name] for name in DEFAULTS}


def has_seen(lease: Lease, stage: Stage, words: CollectionText) -> bool:
    """Return whether the lease's worker has read this version of the stage's instructions."""
    seen = lease.worker.preferences.get("instructions_seen", {})
    return bool(seen.get(_text_key(stage), 0) >= words.version)


def seen_instructions(lease: Lease, version: int) -> dict[str, Any]:
    """Return the worker's preferences with this version of the instructions marked as read."""
    preferences = dict(lease.worker.preferences)
    seen = dict(preferences.get("instructions_seen", {}))
    seen[_text_key(lease.unit.stage)] = version
    preferences["instructions_seen"] = seen
    return preferences


def _text_key(stage: Stage) -> str:
    return f"{stage.collection.slug}/{stage.name}"
