"""Only people who are known send more than a million bytes, and only to pages that take files."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse

from common.long_bodies import may_send

pytestmark = pytest.mark.django_db
TAKES_FILES = (
    reverse("upload"),
    reverse("upload_into", args=["quarn"]),
    reverse("add_candidates", args=["pilot"]),
    reverse("report", args=["pilot"]),
    reverse("label_scheme", args=["pilot", "question"]),
)
ELSEWHERE = ("/sign-in/", "/hit/draft", "/hit/submit", "/corpora/", "/nowhere")


@pytest.fixture(autouse=True)
def _with_passwords(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False


def asked(path: str, cookies: dict[str, str]) -> HttpRequest:
    request = RequestFactory().post(path, HTTP_HOST="localhost")
    request.COOKIES = cookies
    return request


def test_a_requester_sends_files_and_a_stranger_nothing_long() -> None:
    client = Client()
    client.force_login(get_user_model().objects.create_user("rita"))
    signed_in = {name: morsel.value for name, morsel in client.cookies.items()}
    assert [may_send(asked(path, signed_in)) for path in TAKES_FILES] == [True] * 5
    assert not any(may_send(asked(path, signed_in)) for path in ELSEWHERE)
    assert not any(may_send(asked(path, {})) for path in (*TAKES_FILES, *ELSEWHERE))
    assert not may_send(asked(TAKES_FILES[0], {"collector_session": "a" * 32}))
