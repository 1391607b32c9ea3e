"""Somebody at the desk, as far as clicks go: pages are read before their forms are answered."""

import csv
import io
import re
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from common.tests.forms import hidden_in
from marketplace import clock
from marketplace.desk.users import open_user
from marketplace.models import Requester
from marketplace.tests.boto import HOST

PASSWORD = "long enough to sign in"


def desk_client() -> Client:
    """Return a browser that nobody has signed in."""
    return Client(enforce_csrf_checks=True, headers={"Host": HOST})


class DeskVisitor:
    """Signs in by name and password and fills in forms that its pages really have."""

    def __init__(self, name: str, requester: Requester | None = None) -> None:
        open_user(name, PASSWORD, requester, clock.now())
        self.client = desk_client()
        self.name = name
        self.post("/desk/sign-in/", "/desk/sign-in/", name=name, password=PASSWORD)

    def get(self, path: str) -> HttpResponse:
        """Return the page at the end of all redirects."""
        return self.client.get(path, follow=True)

    def html(self, path: str) -> str:
        """Return a page's text."""
        return self.get(path).content.decode()

    def post(self, page: str, path: str, /, **fields: Any) -> HttpResponse:
        """Return where a form on `page` that posts to `path` leads to; the page must have it."""
        html = self.html(page)
        assert f'action="{path}"' in html, f"{page} has no form for {path}"
        return self.send(html, path, **fields)

    def send(self, html: str, path: str, /, **fields: Any) -> HttpResponse:
        """Return where a form leads to, with the token of a page already read."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
        assert token, "no token on this page"
        fields["csrfmiddlewaretoken"] = token[1]
        return self.client.post(path, hidden_in(html, path) | fields, follow=True)

    def upload(self, page: str, path: str, text: str, /, **fields: Any) -> HttpResponse:
        """Return where an uploaded CSV leads to."""
        return self.post(page, path, file=csv_upload(text), **fields)


def csv_upload(text: str | bytes) -> SimpleUploadedFile:
    """Return a text as a browser uploads a file of it."""
    content = text.encode() if isinstance(text, str) else text
    return SimpleUploadedFile("people.csv", content, content_type="text/csv")


def rows_in(response: HttpResponse) -> list[dict[str, str]]:
    """Return the lines of a downloaded CSV by column."""
    assert response["Content-Type"].startswith("text/csv"), response.content
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))


def text_with(rows: list[dict[str, str]]) -> str:
    """Return lines as the CSV that a spreadsheet writes of them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
