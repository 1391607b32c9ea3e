"""Knows a form that is sent again, and refuses one whose page is out of date."""

import hashlib
import json
from collections.abc import Mapping
from typing import TypeVar
from uuid import uuid4

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from common.actions import ActionError

MOST_LETTERS = 64

Row = TypeVar("Row", bound=Model)
FIELD = "seen"


class OnceField(forms.CharField):
    """The hidden field of a form that may be filled in alike twice, but is sent once."""

    def __init__(self) -> None:
        hidden = forms.HiddenInput
        super().__init__(
            required=False,
            max_length=MOST_LETTERS,
            widget=hidden,
            initial=lambda: uuid4().hex,
        )


def form_key(request: HttpRequest) -> str:
    """Return the SHA-256 of a form's address and of all that was typed into it.

    Who goes back and types something else has filled in another form. Files count by name and size.
    """
    sent = {name: values for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"}
    files = {
        name: [[one.name, one.size] for one in values] for name, values in request.FILES.lists()
    }
    told = json.dumps([request.path, sent, files], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def made_before(rows: QuerySet[Row], key: str) -> Row | None:
    """Return the row that the form with this key has made already."""
    return rows.filter(form_key=key).first()


class OutOfDateError(ActionError):
    """The page was shown before the last change; nothing was saved."""


def version_of(*shown: object) -> str:
    """Return the version of what a form shows or decides on: equal values have one version."""
    text = json.dumps(shown, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def check_seen(sent: Mapping[str, str], version: str) -> None:
    """Raise OutOfDateError unless the form was shown at this version.

    sent: the form, which carries the version it was shown at in its hidden field `seen`.
    """
    if sent.get(FIELD, "") != version:
        raise OutOfDateError(
            "This has changed since the page was shown: by somebody else, or by the same form "
            "sent twice. Nothing was saved now. Look at what stands here, then send it again."
        )
