"""The page around a task: drawn once for all who see the same, with places for what is one's own.

To draw it takes longer than everything else that the page needs.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.html import conditional_escape

from marketplace.hits.keywords import StatedTerms

# What is each page's own, and what stands for it while the page is drawn: nobody writes that into
# a title. Addresses take the key of an acceptance, which is a number.
STAND_INS = {
    name: str(10**30 + secrets.randbelow(10**30))
    for name in ("key", "deadline", "grace", "now", "until", "address", "token")
}
NAMES = {stand_in: name for name, stand_in in STAND_INS.items()}
PLACE = re.compile(f"({'|'.join(NAMES)})")


@dataclass(frozen=True)
class TaskFrame:
    """All that the page shows besides what is each page's own: equal frames are drawn alike.

    currency: the sign before its amounts. least_height and least_width: of the task, in pixels.
    """

    language: str
    theme: str
    has_large_text: bool
    accepts_next: bool
    notice: str
    title: str
    asked_by: str
    stated: StatedTerms
    is_once: bool
    currency: str
    reward_cents: int
    can_extend: bool
    least_height: int
    least_width: int
    origin: str
    sandbox: str
    allow: str
    may_not_use: str


def draw_frame(frame: TaskFrame, own: Mapping[str, object]) -> str:
    """Return the page in the active language, which is the frame's.

    own: the value of each of STAND_INS; `address` is the task's, `token` that of the page's forms.
    """
    pieces = _pieces(frame)
    written = {name: conditional_escape(str(value)) for name, value in own.items()}
    return "".join(written[piece] if number % 2 else piece for number, piece in enumerate(pieces))


@lru_cache(maxsize=256)
def _pieces(frame: TaskFrame) -> list[str]:
    """Return the page's pieces; every second one names what stands there."""
    told = {
        "frame": frame,
        "worker": frame,
        "assignment": {"pk": STAND_INS["key"], "reward_cents": frame.reward_cents},
        "extension_seconds": 60 * frame.stated.extension_minutes,
        "csrf_token": STAND_INS["token"],
        **{name: STAND_INS[name] for name in ("deadline", "grace", "now", "until", "address")},
    }
    pieces = PLACE.split(render_to_string("marketplace/work.html", told))
    return [NAMES.get(piece, piece) for piece in pieces]
