"""The question of a HIT: a page elsewhere, HTML of the requester's own, or a form; its address."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar
from urllib.parse import urlencode, urlsplit, urlunsplit

from marketplace.questions.answers import RESERVED
from marketplace.questions.question_form import (
    SCHEMAS,
    QuestionForm,
    QuestionFormError,
    XMLError,
    form_in,
    read_xml,
)
from marketplace.questions.template import DOCTYPE, unsupported_elements

EXTERNAL = SCHEMAS + "2006-07-14/ExternalQuestion.xsd"
HTML = SCHEMAS + "2011-11-11/HTMLQuestion.xsd"
# In the order of the schemas, which are sequences.
MEMBERS = {EXTERNAL: ["ExternalURL", "FrameHeight"], HTML: ["HTMLContent", "FrameHeight"]}
# ours: with what is added to it, it fits into the 8 KB that servers take of a request's first line.
LONGEST_URL = 4096


class QuestionError(ValueError):
    """The question cannot be shown; the message says what to change."""


class UnsupportedQuestionError(QuestionError):
    """Something that the protocol has and this marketplace does not show."""


KEPT_LENGTH = 4096


@dataclass(frozen=True)
class ExternalQuestion:
    """A page elsewhere that is shown in a frame; `frame_height` in pixels, 0 fills the window."""

    url: str
    frame_height: int
    kind: ClassVar[str] = "external"


@dataclass(frozen=True)
class HTMLQuestion:
    """A page of the requester's own HTML, shown in a frame without any origin."""

    html: str
    frame_height: int
    kind: ClassVar[str] = "html"
    url: ClassVar[str] = ""


@dataclass(frozen=True)
class FormQuestion:
    """A form of the service's own kind, drawn as the tests of qualifications are."""

    form: QuestionForm
    frame_height: ClassVar[int] = 0
    kind: ClassVar[str] = "form"
    url: ClassVar[str] = ""


AnyQuestion = ExternalQuestion | HTMLQuestion | FormQuestion


def read_question(xml: str) -> AnyQuestion:
    """Return the question of a new HIT; raises QuestionError or UnsupportedQuestionError.

    Programs post many HITs with one question, so the last short ones are kept, ready read.
    """
    return _kept(xml) if len(xml) <= KEPT_LENGTH else _read(xml)


def page_in(xml: str) -> str:
    """Return the page of an HTMLQuestion that was taken, by whatever was refused then."""
    return read_xml(xml, "question").text_of("HTMLContent")


def _read(xml: str) -> AnyQuestion:
    try:
        root = read_xml(xml, "question")
    except XMLError as error:
        raise QuestionError(str(error)) from None
    if root.name == "QuestionForm":
        try:
            form = form_in(root)
        except QuestionFormError as error:
            raise QuestionError(str(error)) from None
        if taken := RESERVED & {question.identifier for question in form.questions}:
            raise QuestionError(
                f"Name no question {min(taken)}: the page's own form needs that name."
            )
        return FormQuestion(form)
    if (root.namespace, root.name) not in {(EXTERNAL, "ExternalQuestion"), (HTML, "HTMLQuestion")}:
        raise QuestionError(
            f'Begin the question with <ExternalQuestion xmlns="{EXTERNAL}">, '
            f'<HTMLQuestion xmlns="{HTML}"> or a QuestionForm.'
        )
    known = MEMBERS[root.namespace]
    for child in root.children:
        if child.name not in known or child.namespace != root.namespace:
            raise QuestionError(f"Unknown element {child.name} in {root.name}.")
        if child.children:
            raise QuestionError(
                f"{child.name} holds the element {child.children[0].name}; put HTML into "
                "<![CDATA[ … ]]>."
            )
    if [child.name for child in root.children] != known:
        raise QuestionError(f"{root.name} holds {known[0]}, then {known[1]}, each once.")
    height = root.text_of("FrameHeight")
    if not height.isascii() or not height.isdigit() or len(height) > 5:
        raise QuestionError("FrameHeight has to be a whole number of pixels; 0 fills the window.")
    if root.namespace == EXTERNAL:
        return ExternalQuestion(_checked_url(root.text_of("ExternalURL")), int(height))
    html = root.text_of("HTMLContent")
    if not html:
        raise QuestionError("HTMLContent is empty; put the page into <![CDATA[ … ]]>.")
    if not DOCTYPE.match(html):
        raise QuestionError("HTMLContent is a whole page: begin it with <!DOCTYPE html>.")
    if missing := unsupported_elements(html):
        raise UnsupportedQuestionError(
            f"<{missing[0]}> is not drawn here, so its answers would be lost. Ask in another way."
        )
    return HTMLQuestion(html, int(height))


_kept = lru_cache(maxsize=256)(_read)


def _checked_url(url: str) -> str:
    if len(url) > LONGEST_URL:
        raise QuestionError(f"ExternalURL is longer than {LONGEST_URL:,} characters.")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise QuestionError("ExternalURL is not a web address.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise QuestionError("ExternalURL has to begin with https:// or http:// and name a host.")
    if parts.username is not None or any(ord(letter) <= 32 for letter in url):
        raise QuestionError("ExternalURL may hold neither a user name nor spaces.")
    return url


PREVIEW_ASSIGNMENT_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
# A page opened in the last minute must still be able to say that the time is up.
GRACE_SECONDS = 3600


@dataclass(frozen=True)
class Entry:
    """Who enters which assignment, until when (epoch seconds), and where the form goes."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str
    expires: int


def entry_signature(secret: str, entry: Entry) -> str:
    """Return hex HMAC-SHA256 under the requester's entry secret.

    The message is assignment, HIT, worker and expiry, joined by line feeds.
    """
    message = "\n".join([entry.assignment_id, entry.hit_id, entry.worker_id, str(entry.expires)])
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def entry_url(external_url: str, secret: str, entry: Entry) -> str:
    """Return the address of the frame of an accepted assignment."""
    return _with_query(
        external_url,
        {
            "assignmentId": entry.assignment_id,
            "hitId": entry.hit_id,
            "workerId": entry.worker_id,
            "turkSubmitTo": entry.submit_to,
            "entryExpires": str(entry.expires),
            "entrySignature": entry_signature(secret, entry),
        },
    )


def preview_url(external_url: str, hit_id: str) -> str:
    """Return the address of the frame before accepting: no worker, nothing to submit to."""
    return _with_query(external_url, {"assignmentId": PREVIEW_ASSIGNMENT_ID, "hitId": hit_id})


def with_preferences(url: str, preferences: Mapping[str, str]) -> str:
    """Return the address with how the worker likes pages, where they have said so; not signed."""
    names = {"theme": "workerTheme", "text_size": "workerTextSize", "language": "workerLanguage"}
    chosen = {names[name]: value for name, value in preferences.items() if value}
    return _with_query(url, chosen) if chosen else url


def _with_query(url: str, added: dict[str, str]) -> str:
    parts = urlsplit(url)
    query = "&".join(filter(None, [parts.query, urlencode(added)]))
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", query, parts.fragment))
