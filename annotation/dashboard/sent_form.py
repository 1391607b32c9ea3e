"""Knows a form that is sent again: by a second click, a reload, or after an outage."""

import hashlib
import json
from typing import TypeVar
from uuid import uuid4

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest

MOST_LETTERS = 64

Row = TypeVar("Row", bound=Model)


def new_once() -> str:
    """Return what names a form from when it is shown."""
    return uuid4().hex


class OnceField(forms.CharField):
    """The hidden field of a form that makes a row but once, however often it is sent."""

    def __init__(self) -> None:
        hidden = forms.HiddenInput
        super().__init__(required=False, max_length=MOST_LETTERS, widget=hidden, initial=new_once)


def form_key(request: HttpRequest) -> str:
    """Return the SHA-256 of a form and of all that was typed into it; blank if it has no name.

    Who goes back and types something else has filled in another form. Files count by name and size.
    """
    if not request.POST.get("once"):
        return ""
    sent = {name: values for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"}
    files = {
        name: [[one.name, one.size] for one in values] for name, values in request.FILES.lists()
    }
    return hashlib.sha256(json.dumps([sent, files], sort_keys=True).encode()).hexdigest()


def made_before(rows: QuerySet[Row], key: str) -> Row | None:
    """Return the row that the form with this key has made already."""
    return rows.filter(form_key=key).first() if key else None
