"""What a page may say over its socket: how much of it, how often, and in which form."""

from typing import Any
from uuid import UUID

import orjson

from common.rate_limit import Limit
from tasks.payload import shallow, typable
from tasks.work.dialog_rules import Refused, Reply

# Of one socket: as fast as anybody types, and not as fast as anybody can flood.
MESSAGES = Limit(at_once=40, seconds=0.5)
LONGEST_NOTE = 500
REASONS = ("rude", "nonsense", "silent", "other")
OUT_OF_DATE = "This page is out of date; reload it."


def read_message(text: str | None) -> dict[str, Any]:
    """Return a message, cleaned of what cannot be typed. Raises Refused."""
    try:
        message = shallow(orjson.loads(text or ""))
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise Refused("This could not be read; reload the page.")
    cleaned: dict[str, Any] = typable(message)
    return cleaned


def token_of(message: dict[str, Any]) -> str:
    """Return the token of an introduction, empty where there is none."""
    token = message.get("token")
    return token if isinstance(token, str) else ""


def id_of(message: dict[str, Any]) -> UUID:
    """Return the page's own id of a message. Raises Refused."""
    try:
        return UUID(str(message.get("id")))
    except ValueError:
        raise Refused(OUT_OF_DATE) from None


def dialog_of(message: dict[str, Any]) -> int:
    """Return the dialog that a move was made in. Raises Refused."""
    dialog = message.get("dialog")
    if type(dialog) is not int or not 0 < dialog < 2**63:
        raise Refused(OUT_OF_DATE)
    return dialog


def question_of(message: dict[str, Any]) -> str:
    """Return the question that is asked. Raises Refused."""
    text = message.get("text")
    if not isinstance(text, str):
        raise Refused(OUT_OF_DATE)
    return text


def reply_of(message: dict[str, Any]) -> Reply:
    """Return the answer that is given; whether it fits the section, the rules know."""
    start, end = message.get("start"), message.get("end")
    if not all(value is None or (type(value) is int and value >= 0) for value in (start, end)):
        raise Refused("Mark the answer in the section, or choose “No answer”.")
    return Reply(start, end, str(message.get("continuation")), str(message.get("affirmation")))


def report_of(message: dict[str, Any]) -> tuple[str, str]:
    """Return why a partner is reported, and in which words. Raises Refused."""
    reason, note = message.get("reason"), message.get("note", "")
    if reason not in REASONS:
        raise Refused("Choose what was wrong with your partner.")
    return str(reason), str(note)[:LONGEST_NOTE]
