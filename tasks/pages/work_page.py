"""A page of work: what everybody on a stage gets alike is rendered once, the rest is put in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson
from django.template.loader import render_to_string

from common.committed_cache import kept_once_committed
from tasks.models import Unit
from tasks.pages.page_state import (
    DEFAULTS,
    has_seen,
    own_state,
    preferences_of,
    preview_state,
    shared_state,
)
from tasks.people.lease_context import LeaseContext, StageContext
from tasks.work.kinds.kind import Item
from tasks.work.kinds.registry import kind_of
from tasks.work.samples import sample_of

OPENING = '<script id="page-state" type="application/json">'
CLOSING = "</script>"


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
