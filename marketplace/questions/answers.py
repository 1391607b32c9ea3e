"""Writes what a worker's form sent as QuestionFormAnswers XML, and reads it back."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)
# The first names the assignment itself, the second holds the secret of its acceptance. What else a
# page sends is answer, also `hitId` and `workerId`: published scripts read them back.
RESERVED = {"assignmentId", "turkSubmitTo"}
ANSWER = "{*}Answer"


@dataclass(frozen=True)
class GivenAnswer:
    """The answer to one question of a test: a text, or selections and what else was written."""

    identifier: str
    text: str = ""
    selections: tuple[str, ...] = ()
    other: str = ""


def form_answers_xml(given: Iterable[GivenAnswer]) -> str:
    """Return the XML of a test's answers, declared and truly ASCII."""
    return _document(
        f"<Answer><QuestionIdentifier>{_xml_text(one.identifier)}</QuestionIdentifier>"
        f"{_given_xml(one)}</Answer>"
        for one in given
    )


def _given_xml(one: GivenAnswer) -> str:
    chosen = "".join(
        f"<SelectionIdentifier>{_xml_text(name)}</SelectionIdentifier>" for name in one.selections
    )
    if one.other:
        chosen += f"<OtherSelectionText>{_xml_text(one.other)}</OtherSelectionText>"
    return chosen or f"<FreeText>{_xml_text(one.text)}</FreeText>"


def answers_xml(fields: Iterable[tuple[str, list[str]]]) -> str:
    """Return the XML of the fields, reserved names left out, many values joined by `|`.

    It is declared ASCII and is ASCII: other characters are numeric references, and those that XML
    cannot hold are dropped.
    """
    return _document(
        f"<Answer><QuestionIdentifier>{_xml_text(name)}</QuestionIdentifier>"
        f"<FreeText>{_xml_text('|'.join(values))}</FreeText></Answer>"
        for name, values in fields
        if name not in RESERVED
    )


def _document(answers: Iterable[str]) -> str:
    return (
        '<?xml version="1.0" encoding="ASCII"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{"".join(answers)}</QuestionFormAnswers>'
    )


def _xml_text(text: str) -> str:
    allowed = "".join(letter for letter in text if _is_xml_character(ord(letter)))
    # A bare carriage return would be read back as a line feed.
    written = escape(allowed, quote=False).replace("\r", "&#13;")
    return written.encode("ascii", "xmlcharrefreplace").decode()


def _is_xml_character(code: int) -> bool:
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )


def answers_in(xml: str) -> dict[str, str]:
    """Return the fields of QuestionFormAnswers; of a field that is there twice, both, by a bar.

    Expects XML that this marketplace wrote itself.
    """
    found: dict[str, str] = {}
    for answer in ElementTree.fromstring(xml).iterfind(ANSWER):
        name = answer.findtext("{*}QuestionIdentifier") or ""
        values = [node.text or "" for node in answer if not node.tag.endswith("QuestionIdentifier")]
        value = "|".join(values)
        found[name] = f"{found[name]}|{value}" if name in found else value
    return found


def with_parts(answers: dict[str, str]) -> dict[str, str]:
    """Return the fields with what a crowd-form packed into `taskAnswers` behind it, each by name.

    Of choices those that were made, by a bar, as plain boxes come in; what else is no text as JSON.
    """
    try:
        packed = json.loads(answers.get("taskAnswers", "[]"))
    except ValueError:
        return answers
    parts = [one for one in packed if isinstance(one, dict)] if isinstance(packed, list) else []
    return answers | {
        name: _plain(value) for part in parts for name, value in part.items() if name not in answers
    }


def readable(xml: str) -> dict[str, str]:
    """Return the fields of an answer for somebody to read: parts in place of their JSON."""
    fields = answers_in(xml)
    parts = with_parts(fields)
    return {name: parts[name] for name in parts if name != "taskAnswers" or parts == fields}


def _plain(value: Any) -> str:
    if isinstance(value, dict) and all(isinstance(one, bool) for one in value.values()):
        return "|".join(name for name, is_chosen in value.items() if is_chosen)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
