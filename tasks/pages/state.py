"""What a worker's page is told, as one JSON document: never more than its role may see."""

from datetime import datetime
from typing import Any

from django.urls import reverse

from collector.creation import parameters_of
from collector.models import CollectionText, Stage
from collector.parameters import Parameters, StageTable
from tasks.kinds import kind
from tasks.models import Lease
from tasks.pages.items import instructions_html, items_of
from tasks.pages.tokens import lease_token
from tasks.pages.words import price

URLS = ("draft", "submit", "article", "extend", "problem", "preferences", "instructions_seen")
DEFAULTS = {
    "text_size": "m",
    "theme": "auto",
    "spacing": "normal",
    "sounds": False,
    "instructions_open": False,
}


def work_state(lease: Lease, now: datetime) -> dict[str, Any]:
    """Return the state of the page on which a worker works."""
    stage = lease.unit.stage
    parameters = parameters_of(stage.collection)
    seen = lease.worker.preferences.get("instructions_seen", {})
    assert lease.instructions is not None
    return {
        **_common(stage, parameters, lease.instructions, now),
        "token": lease_token(lease),
        "mode": "work",
        "urls": {name: reverse(f"hit_{name}") for name in URLS},
        "expires_at": lease.expires_at.timestamp(),
        "can_extend": not lease.extended,
        "instructions": {
            "version": lease.instructions.version,
            "html": instructions_html(lease.instructions, stage),
            "seen": seen.get(_text_key(stage), 0) >= lease.instructions.version,
        },
        "preferences": {
            name: lease.worker.preferences.get(name, value) for name, value in DEFAULTS.items()
        },
        "items": items_of(lease.unit),
        "draft": lease.draft,
        "draft_version": lease.draft_version,
    }


def preview_state(stage: Stage, instructions: CollectionText, now: datetime) -> dict[str, Any]:
    """Return the state of a preview: the instructions and no item, since nobody is known yet."""
    parameters = parameters_of(stage.collection)
    return {
        **_common(stage, parameters, instructions, now),
        "token": "",
        "mode": "preview",
        "urls": {},
        "expires_at": now.timestamp(),
        "can_extend": False,
        "instructions": {
            "version": instructions.version,
            "html": instructions_html(instructions, stage),
            "seen": False,
        },
        "preferences": DEFAULTS,
        "items": [],
        "draft": None,
        "draft_version": 0,
    }


def _common(
    stage: Stage, parameters: Parameters, instructions: CollectionText, now: datetime
) -> dict[str, Any]:
    table: StageTable = parameters.stages()[stage.name]
    return {
        "kind": stage.kind,
        "title": table.title,
        "reward": price(table.reward_cents, parameters),
        "minutes": table.expected_minutes,
        "requester": {
            "name": stage.collection.requester_name,
            "contact": stage.collection.requester_contact,
        },
        "server_now": now.timestamp(),
        "limits": kind(stage.kind).limits(table, getattr(parameters, "checks", None)),
    }


def _text_key(stage: Stage) -> str:
    return f"{stage.collection.slug}/{stage.name}"


def seen_instructions(lease: Lease, version: int) -> dict[str, Any]:
    """Return the worker's preferences with this version of the instructions marked as read."""
    preferences = dict(lease.worker.preferences)
    seen = dict(preferences.get("instructions_seen", {}))
    seen[_text_key(lease.unit.stage)] = version
    preferences["instructions_seen"] = seen
    return preferences
