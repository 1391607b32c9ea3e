"""The host's page to import workers: what would happen first, then the same for good."""

from typing import Any

from django.http import HttpResponse

from common.spreadsheet import UploadError
from marketplace import clock
from marketplace.desk.access import host_page
from marketplace.desk.pages import show, text_to_carry
from marketplace.desk.sessions import DeskRequest
from marketplace.people.importing import Outcome, import_workers
from marketplace.people.roster import COLUMNS

MOST_SHOWN = 500
EXAMPLE = (
    "name,mail,mturk_id,prolific_id,language,qualifications,notes\n"
    "Ada,ada@example.org,A2XK41EXAMPLE,,en,Spring class; Reader=85,Came with the pilot\n"
)


@host_page
def import_people(request: DeskRequest) -> HttpResponse:
    """Show what a file would do, row by row, and do it when the host says so."""
    context: dict[str, Any] = {"columns": COLUMNS, "example": EXAMPLE, "here": "workers"}
    if request.method != "POST":
        return show(request, "import.html", **context)
    is_dry = "apply" not in request.POST
    try:
        text = text_to_carry(request)
        by = "" if is_dry else request.desk.who
        report = import_workers(text, clock.now(), is_dry=is_dry, by=by)
    except UploadError as error:
        return show(request, "import.html", status=400, problem=str(error), **context)
    carried = text if is_dry else ""
    # Those to mend stand first, and a browser is not given ten thousand rows to draw.
    lines = sorted(report.lines, key=lambda line: line.outcome != Outcome.PROBLEM)
    context |= {"lines": lines[:MOST_SHOWN], "n_more": len(lines) - MOST_SHOWN}
    return show(request, "import.html", report=report, is_dry=is_dry, carried=carried, **context)
