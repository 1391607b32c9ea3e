"""Knows a form that is sent again: by a second click, by a reload, or after going back to it."""

import hashlib
import json
from typing import TypeVar
from uuid import uuid4

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest

MOST_LETTERS = 64

Row = TypeVar("Row", bound=Model)


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
