"""What a worker's page is told, as one JSON document: never more than its role may see."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from markdown_it import MarkdownIt

from collector.creation import parameters_of
from collector.models import Collection, CollectionText, Stage
from collector.parameters import Parameters, StageTable
from tasks.hits import money
from tasks.kinds import kind
from tasks.models import Lease
from tasks.pages.tokens import lease_token

URLS = ("draft", "submit", "article", "extend", "problem", "preferences", "instructions_seen")
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
DEFAULTS = {
    "text_size": "m",
    "theme": "auto",
    "spacing": "normal",
    "sounds": False,
    "instructions_open": False,
}


def price(cents: int, parameters: Parameters) -> str:
    """Return an amount for people to read, such as $4.00."""
    amount = money(cents, parameters.pay.minor_units)
    symbol = SYMBOLS.get(parameters.pay.currency)
    return f"{symbol}{amount}" if symbol else f"{amount} {parameters.pay.currency}"


def instructions_html(text: CollectionText, stage: Stage, parameters: Parameters) -> str:
    """Return the stage's instructions as HTML, the collection's own numbers filled in."""
    return markdown(fill(text.markdown, stage.collection, parameters, stage.name))


def fill(text: str, collection: Collection, parameters: Parameters, stage_name: str = "") -> str:
    """Return `text` with every {name} of a number or a contact replaced by its value."""
    table = parameters.stages().get(stage_name)
    values: dict[str, object] = {
        "requester_name": collection.requester_name,
        "requester_contact": collection.requester_contact,
        "ethics_number": collection.ethics_number,
        "collection_title": collection.title,
        "min_links": getattr(getattr(parameters, "seeds", None), "min_links", ""),
    }
    if table:
        values |= {
            "paragraphs": table.items_per_hit,
            "questions": getattr(table, "questions_per_hit", table.items_per_hit),
            "multi_link_questions": getattr(table, "multi_link_questions", ""),
            "reward": price(table.reward_cents, parameters),
            "minutes": table.expected_minutes,
        }
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def markdown(text: str) -> str:
    """Return Markdown as HTML; raw HTML in it is shown as text."""
    return str(MarkdownIt("commonmark", {"html": False}).render(_without_comments(text)))


def _without_comments(text: str) -> str:
    before, opened, rest = text.partition("<!--")
    return before + _without_comments(rest.partition("-->")[2]) if opened else before


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
            "html": instructions_html(lease.instructions, stage, parameters),
            "seen": seen.get(_text_key(stage), 0) >= lease.instructions.version,
        },
        "preferences": {
            name: lease.worker.preferences.get(name, value) for name, value in DEFAULTS.items()
        },
        "items": kind(stage.kind).page_items(lease.unit),
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
            "html": instructions_html(instructions, stage, parameters),
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
