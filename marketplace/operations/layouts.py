"""HIT layouts: a project of the desk, filled by whoever names it as HITLayoutId."""

import re
from typing import Any

from marketplace.hits.questions.template import (
    document,
    filled,
    question_xml,
    template_of,
    variables,
)
from marketplace.models import Project
from marketplace.wire.errors import DoesNotExist, InvalidParameter
from marketplace.wire.registry import Call

LAYOUT_ID = re.compile(Project.LAYOUT + r"([1-9][0-9]{0,17})")


def question_of(call: Call, parameters: dict[str, Any]) -> str:
    """Return the question of a new HIT: its own, or that of the layout that it names.

    Raises HITLayoutDoesNotExist, or InvalidParameterValue for values that do not fit the layout.
    """
    layout_id = parameters.get("HITLayoutId")
    if layout_id is None:
        if parameters.get("HITLayoutParameters"):
            raise InvalidParameter("HITLayoutParameters belong to a HITLayoutId; give that, too.")
        if "Question" not in parameters:
            raise InvalidParameter("Give the Question of the HIT, or a HITLayoutId.")
        return str(parameters["Question"])
    if "Question" in parameters:
        raise InvalidParameter("Give either a Question or a HITLayoutId.")
    return _filled(_own(call, layout_id), parameters.get("HITLayoutParameters", []))


def _own(call: Call, layout_id: str) -> Project:
    key = LAYOUT_ID.fullmatch(layout_id)
    found = call.requester.projects.filter(pk=int(key[1])).first() if key else None
    if found is None:
        raise DoesNotExist("HITLayout", "HITLayout", layout_id)
    return found


def _filled(project: Project, given: list[dict[str, str]]) -> str:
    html = template_of(project.terms())
    values = {one["Name"]: one["Value"] for one in given}
    if len(values) < len(given):
        raise InvalidParameter("A HITLayoutParameter is given twice.")
    wanted = set(variables(html))
    if missing := wanted - set(values):
        raise InvalidParameter(f"The layout needs the HITLayoutParameter {min(missing)}.")
    if unknown := set(values) - wanted:
        raise InvalidParameter(f"The layout has no HITLayoutParameter {min(unknown)}.")
    page = filled(html, values, are_html=project.values_are_html)
    return question_xml(document(page, project.title))
