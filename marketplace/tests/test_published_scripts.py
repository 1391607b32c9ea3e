"""What published programs ask of the requester API, call by call, and what they do with replies."""

import json
from typing import Any
from xml.etree import ElementTree

from marketplace.tests.visitor import Visitor


def parsed(node: ElementTree.Element) -> Any:
    """Return XML as xmltodict does: a child that is there once is itself, several are a list."""
    if not len(node):
        return node.text
    found: dict[str, Any] = {}
    for child in node:
        found.setdefault(child.tag.rpartition("}")[2], []).append(parsed(child))
    return {name: rows[0] if len(rows) == 1 else rows for name, rows in found.items()}


def test_a_script_that_reads_task_answers(rita: Any, ada: Visitor, make_hit: Any) -> None:
    """The service's own tutorial: xmltodict, then the JSON of the only answer."""
    hit = make_hit(rita)
    packed = [{"comment": "Zoë", "kind": {"fresh": True, "stale": False}}]
    ada.submit(hit, taskAnswers=json.dumps(packed))
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    answer = parsed(ElementTree.fromstring(assignment["Answer"]))["Answer"]
    assert answer["QuestionIdentifier"] == "taskAnswers"
    assert json.loads(answer["FreeText"]) == packed
