"""The page on which a worker works, and the state it is given: never more than a role may see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from collector.models import CollectionText, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import SkippingTable
from common.committed_cache import kept_once_committed
from tasks.models import Lease, Unit
from tasks.pages.wording import currency, fill_placeholders, markdown, pay
from tasks.people.lease_context import LeaseContext, StageContext, lease_token
from tasks.work.kinds.hit_words import title_of
from tasks.work.kinds.kind import Item
from tasks.work.kinds.registry import kind_of
from tasks.work.samples import sample_of

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
OPENING = '<script id="page-state" type="application/json">'
CLOSING = "</script>"


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


@dataclass(frozen=True)
class Frame:
    """What decides the shared part of a page: equal frames have equal parts."""

    words: tuple[str | int, ...]
    version: int
    reward_cents: int
    seen: bool
    preferences: tuple[Any, ...]
    items: tuple[str, ...]
    mode: str
    framed: bool
    setting: StageContext = field(compare=False)


def work_page(context: LeaseContext, now: datetime, asked: Mapping[str, str]) -> bytes:
    """Return the page on which a worker works; asked: how the page around it looks."""
    lease, setting = context.lease, context.setting
    return _page(
        _frame(
            setting,
            reward_cents=lease.session.posting.reward_cents,
            seen=has_seen(lease, setting.stage, setting.words),
            preferences=preferences_of(lease, asked),
            items=tuple(str(item["id"]) for item in items_of(lease.unit)),
            mode="work",
        ),
        own_state(lease, now),
        items_script(lease.unit),
        inert(context.draft.encode()),
    )


def preview_page(
    setting: StageContext, reward_cents: int, now: datetime, asked: Mapping[str, str]
) -> bytes:
    """Return the preview: the instructions and no item, since nobody is known yet."""
    frame = _frame(
        setting,
        reward_cents=reward_cents,
        seen=False,
        preferences={**DEFAULTS, **asked},
        items=(),
        mode="preview",
    )
    return _page(frame, preview_state(now), b"[]", b"null")


def trial_page(
    setting: StageContext,
    reward_cents: int,
    now: datetime,
    items: list[Item],
    *,
    own: Mapping[str, object] | None = None,
    framed: bool = False,
) -> bytes:
    """Return the page of a stage to try with these items: its requester sees what workers see.

    It has no token and no address to send anything to. own: what only this page is told; how many
    items there are where nothing is given. framed: the page around it says that it is a trial.
    """
    frame = _frame(
        setting,
        reward_cents=reward_cents,
        seen=True,
        preferences=DEFAULTS,
        items=tuple(str(item["id"]) for item in items),
        mode="trial",
        framed=framed,
    )
    told = own or {"running": {"done": 0, "of": len(items)}}
    return _page(frame, {**preview_state(now), **told}, script(items), b"null")


def _frame(
    setting: StageContext,
    *,
    reward_cents: int,
    seen: bool,
    preferences: dict[str, Any],
    items: tuple[str, ...],
    mode: str,
    framed: bool = False,
) -> Frame:
    stage, collection, words = setting.stage, setting.stage.collection, setting.words
    told = (
        stage.kind,
        stage.name,
        collection.title,
        collection.protocol,
        collection.protocol_version,
        collection.requester_name,
        collection.requester_contact,
        collection.ethics_number,
        setting.parameters,
        words.markdown,
    )
    tastes = tuple(preferences.values())
    return Frame(told, words.version, reward_cents, seen, tastes, items, mode, framed, setting)


def _page(frame: Frame, own: dict[str, Any], items: bytes, draft: bytes) -> bytes:
    before, after = _around(frame)
    return b"".join(
        (before, script(own)[1:-1], b',"items":', items, b',"draft":', draft, b"}", after)
    )


# Each keeps some 40 kB; a stage has as many as its workers have tastes.
@lru_cache(maxsize=128)
def _around(frame: Frame) -> tuple[bytes, bytes]:
    """Return the page before and after what is only this stay's, in the middle of its state."""
    setting = frame.setting
    state = shared_state(
        setting.stage,
        setting.words,
        reward_cents=frame.reward_cents,
        mode=frame.mode,
        seen=frame.seen,
        preferences=dict(zip(DEFAULTS, frame.preferences, strict=True)),
        n_items=len(frame.items),
    )
    shown = {**state, "items": [{"id": item} for item in frame.items]}
    told: dict[str, Any] = {"state": shown, "framed": frame.framed}
    if frame.mode == "preview":
        told["sample"] = sample_of(setting.stage.collection.protocol, setting.stage.kind)
    html = render_to_string(f"hits/{setting.stage.kind}.html", told)
    start = html.index(OPENING) + len(OPENING)
    end = html.index(CLOSING, start)
    return html[:start].encode() + script(state)[:-1] + b",", html[end:].encode()


@dataclass(frozen=True)
class Items:
    """A unit's items, shared between requests and so never changed, and their JSON in a page."""

    shown: list[Item]
    script: bytes


def items_of(unit: Unit) -> list[Item]:
    """Return what the page of the unit shows; shared between requests, so never changed."""
    return _items(unit).shown


def items_script(unit: Unit) -> bytes:
    """Return the JSON of what the unit shows, fit for a script element."""
    return _items(unit).script


# A unit is known by its primary key; about 80 kB each with ten long paragraphs.
@kept_once_committed(512)
def _items(unit: Unit) -> Items:
    shown = kind_of(unit.stage).page_items(unit)
    return Items(shown, script(shown))


def script(value: object) -> bytes:
    """Return `value` as JSON that cannot end the script element it stands in."""
    return inert(orjson.dumps(value))


def inert(json: bytes) -> bytes:
    """Return JSON without a character that HTML could read as markup."""
    for character, escape in ((b"<", b"\\u003C"), (b">", b"\\u003E"), (b"&", b"\\u0026")):
        json = json.replace(character, escape)
    return json
