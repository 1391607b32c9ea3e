"""A worker at the site, as far as clicks go: a page is read before its form is answered."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.http import HttpResponse
from django.test import Client

from common.tests.forms import hidden_in
from marketplace.models import Worker
from marketplace.models.people import sign_in_name_of
from marketplace.tests.boto import HOST


class Visitor:
    """Signs in by name and clicks through the pages, with checked forms and no redirects missed."""

    def __init__(self, name: str = "") -> None:
        self.client = Client(enforce_csrf_checks=True, headers={"Host": HOST})
        self.name = name
        if name:
            # The pages on the way in are looked at where signing in is tested.
            door = Client(headers={"Host": HOST})
            door.post("/sign-in/", {"name": name})
            self.client.cookies = door.cookies

    @property
    def worker(self) -> Worker:
        """Return the worker's row."""
        return Worker.objects.get(sign_in_name=sign_in_name_of(self.name))

    def get(self, path: str) -> HttpResponse:
        """Return the page at the end of all redirects."""
        return self.client.get(path, follow=True)

    def post(self, page: str, path: str, **fields: Any) -> HttpResponse:
        """Return where a form on `page` that posts to `path` leads to; the page must have it."""
        html = self.get(page).content.decode()
        assert f'action="{path}"' in html, f"{page} has no form for {path}"
        return self.send_from(html, path, **fields)

    def send(self, path: str, **fields: Any) -> HttpResponse:
        """Return where a form leads to that no page shows (any more), as a stale tab would send."""
        return self.send_from(self.get("/preferences/").content.decode(), path, **fields)

    def send_from(self, html: str, path: str, **fields: Any) -> HttpResponse:
        """Return where the form of a page that was read before leads to."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
        assert token, "no token on this page"
        fields["csrfmiddlewaretoken"] = token[1]
        return self.client.post(path, hidden_in(html, path) | fields, follow=True)

    def accept(self, hit: dict[str, Any]) -> "Frame":
        """Preview a HIT, accept it and return its frame."""
        path = f"/hits/{hit['HITId']}/"
        return Frame(self.post(path, f"{path}accept/"))

    def submit(self, hit: dict[str, Any], **fields: str) -> "Frame":
        """Accept a HIT and hand it in."""
        frame = self.accept(hit)
        response = frame.submit(**(fields or {"answer": "42"}))
        assert response.status_code == 200, response.content
        return frame


def simulated(name: str) -> Visitor:
    """Return a visitor who said at first, as simulated workers do, that nobody is behind it."""
    Client(headers={"Host": HOST}).post("/sign-in/", {"name": name, "simulated": "yes"})
    return Visitor(name)


class Frame:
    """What the frame of a work page is told, and the form that ends it."""

    def __init__(self, response: HttpResponse) -> None:
        self.response = response
        html = response.content.decode()
        found = re.search(r'<iframe[^>]* src="([^"]+)"', html)
        assert found, f"no frame on this page: {html}"
        self.url = unescape(found[1])
        self.path = response.request["PATH_INFO"]
        self.query = {
            name: values[0] for name, values in parse_qs(urlsplit(self.url).query).items()
        }

    def submit(self, assignment_id: str = "", **fields: str) -> HttpResponse:
        """Post the form as the frame would: from another site, without any cookie."""
        target = urlsplit(self.query["turkSubmitTo"]).path + "/mturk/externalSubmit"
        fields["assignmentId"] = assignment_id or self.query["assignmentId"]
        return Client(enforce_csrf_checks=True, headers={"Host": HOST}).post(target, fields)
