"""What a crash can leave behind: looked for, and mended, by whoever set this server up."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.dashboard.access import requester_required, sets_up
from collector.serving import backups
from common.checkup import Finding, checks_named, examine

# Of each kind; the command prints all of them.
MOST_LINES = 20


@requester_required
@require_http_methods(["GET", "HEAD", "POST"])
def doctor(request: HttpRequest) -> HttpResponse:
    """Offer to look; look when asked to, mend when asked to, and show what is left."""
    may_look = sets_up(request)
    shown: dict[str, object] = {"may_look": may_look}
    if may_look:
        shown |= {"backup": backups.status(), "backup_problems": backups.problems()}
    if request.method == "POST" and may_look:
        checks, mends = checks_named(settings.CHECKUPS), request.POST.get("do") == "mend"
        findings = examine(checks, mend=mends)
        shown |= {
            "looked_at": timezone.now(),
            "n_checks": len(checks),
            "findings": [_row(finding, mends=mends) for finding in findings],
            "can_mend": any(each.left and each.check.mend and not each.why for each in findings),
            "mends": mends,
        }
    status = 403 if request.method == "POST" and not may_look else 200
    return render(request, "dashboard/doctor.html", shown, status=status)


def _row(finding: Finding, *, mends: bool) -> dict[str, object]:
    """Return a finding as the page shows it; mends: it has been tried to mend it."""
    check, left = finding.check, set(finding.left)
    return {
        "name": check.name,
        "means": finding.says,
        "lines": [(line, mends and line not in left) for line in finding.found[:MOST_LINES]],
        "more": max(0, len(finding.found) - MOST_LINES),
        "why": finding.why,
        "mends": "" if mends or finding.why or not check.mend else check.mends,
        "by_hand": bool(left) and (mends or not check.mend) and not finding.why,
    }
