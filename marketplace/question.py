"""Reads the question of a HIT: an ExternalQuestion's address and height, from hostile XML."""

from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.parsers import expat

MAX_BYTES = 65_535
SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL = SCHEMAS + "2006-07-14/ExternalQuestion.xsd"
OTHER_KINDS = {"HTMLQuestion", "QuestionForm"}


class QuestionError(ValueError):
    """The question cannot be shown; the message says what to change."""


class UnsupportedQuestionError(QuestionError):
    """A kind of question that the protocol has and this marketplace does not show."""


@dataclass(frozen=True)
class ExternalQuestion:
    """A page elsewhere that is shown in a frame; `frame_height` in pixels, 0 fills the window."""

    url: str
    frame_height: int


def read_question(xml: str) -> ExternalQuestion:
    """Return the external question of a HIT; raises QuestionError or UnsupportedQuestionError."""
    if len(xml.encode()) > MAX_BYTES:
        raise QuestionError(f"The question is longer than {MAX_BYTES} bytes.")
    root, texts = _texts_by_path(xml)
    namespace, _, kind = root.rpartition(" ")
    if kind in OTHER_KINDS:
        raise UnsupportedQuestionError(f"This marketplace shows ExternalQuestion, not {kind} yet.")
    if kind != "ExternalQuestion" or namespace != EXTERNAL:
        raise QuestionError(f'Begin the question with <ExternalQuestion xmlns="{EXTERNAL}">.')
    known = {(root, f"{EXTERNAL} {name}") for name in ("ExternalURL", "FrameHeight")}
    if unknown := set(texts) - known - {(root,)}:
        raise QuestionError(f"Unknown element {sorted(unknown)[0][-1].rpartition(' ')[2]}.")
    url = texts.get((root, f"{EXTERNAL} ExternalURL"), "").strip()
    height = texts.get((root, f"{EXTERNAL} FrameHeight"), "").strip()
    return ExternalQuestion(_checked_url(url), _checked_height(height))


def _checked_url(url: str) -> str:
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


def _checked_height(height: str) -> int:
    if not height.isascii() or not height.isdigit() or len(height) > 5:
        raise QuestionError("FrameHeight has to be a whole number of pixels; 0 fills the window.")
    return int(height)


def _texts_by_path(xml: str) -> tuple[str, dict[tuple[str, ...], str]]:
    """Return the root's name and the text of each element by path; names are `namespace name`."""
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.buffer_text = True
    path: list[str] = []
    texts: dict[tuple[str, ...], str] = {}
    roots: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if not path:
            roots.append(name)
        path.append(name)
        if len(path) > 20:
            raise QuestionError("The question's elements are nested too deeply.")
        texts.setdefault(tuple(path), "")

    def end(name: str) -> None:
        path.pop()

    def text(data: str) -> None:
        texts[tuple(path)] += data

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    # No document type means no entities, external or exploding.
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(xml.encode(), True)
    except expat.ExpatError as error:
        raise QuestionError(f"The question is not well-formed XML: {error}.") from None
    return roots[0], texts


def _refuse_doctype(*declaration: object) -> None:
    raise QuestionError("The question may not declare a document type or entities.")
