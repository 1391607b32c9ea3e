"""Words and amounts for people: the collection's texts, filled in and rendered, and its prices."""

import re

from collector.models import Collection
from collector.protocols.parameters import Parameters, StageTable
from common.markup import html_of
from common.money import SYMBOLS, price_of
from tasks.ledger.pay_terms import told_workers
from tasks.work.kinds.hit_words import filled, numbers_of
from tasks.work.kinds.registry import kind_of

PLACEHOLDER = re.compile(r"\{\w+(?::[^|{}]*\|[^|{}]*)?\}")
COMMENT = re.compile("<!--.*?-->", re.DOTALL)


def currency(parameters: Parameters) -> dict[str, str | int]:
    """Return what a page needs to write amounts as `price` does."""
    pay = parameters.pay
    symbol = SYMBOLS.get(pay.currency, "")
    return {"symbol": symbol, "code": pay.currency, "minor_units": pay.minor_units}


def price(cents: int, parameters: Parameters) -> str:
    """Return an amount for people to read, such as $1,250.00."""
    return price_of(cents, parameters.pay.minor_units, parameters.pay.currency)


def pay(cents: int, table: StageTable, parameters: Parameters) -> str:
    """Return in words all that a HIT pays: its reward, its bonuses and the pay for waiting."""
    promise, parts = kind_of(table).extra_pay(table), [price(cents, parameters)]
    if promise.bonus_cents:
        parts.append(f"up to {price(promise.bonus_cents, parameters)} in bonuses")
    if promise.waiting_cents:
        minute, most = price(promise.waiting_cents, parameters), promise.waiting_minutes
        many = most != 1
        parts.append(
            f"{minute} a minute for waiting, {most} minutes at most"
            if many
            else f"{minute} for waiting a minute at most"
        )
    return " + ".join(parts)


def fill_placeholders(
    text: str,
    collection: Collection,
    parameters: Parameters,
    stage_name: str = "",
    reward_cents: int | None = None,
) -> str:
    """Return `text` with every {name} of a number or a contact replaced by its value.

    {name} can be any number or text of the stage's own table, of its bonuses, and of the tables
    [seeds] and [checks]. reward_cents: the reward of a HIT that was posted before a change of it.
    """
    table = parameters.stages().get(stage_name)
    values: dict[str, object] = {
        "requester_name": collection.requester_name,
        "requester_contact": collection.requester_contact,
        "ethics_number": collection.ethics_number,
        "collection_title": collection.title,
        "rejection": told_workers(parameters),
    }
    common = (getattr(parameters, name, None) for name in ("seeds", "checks"))
    for part in (*common, getattr(table, "bonuses", None), table):
        values |= {name: value for name, value in part or () if isinstance(value, int | str)}
    if table:
        cents = table.reward_cents if reward_cents is None else reward_cents
        values |= {
            **numbers_of(table),
            "reward_cents": cents,
            "reward": price(cents, parameters),
            "pay": pay(cents, table, parameters),
            "minutes": table.expected_minutes,
        }
    return filled(text, values)


def unknown_placeholders(text: str, parameters: Parameters, stage_name: str) -> list[str]:
    """Return each {name} in a stage's text that has no value; comments may have any."""
    filled = fill_placeholders(text, Collection(), parameters, stage_name)
    return PLACEHOLDER.findall(COMMENT.sub("", filled))


def markdown(text: str) -> str:
    """Return Markdown as HTML; raw HTML in it is shown as text.

    Its headings become one level lower, because the page around it has the first level.
    """
    return html_of(text, lowered=1)
