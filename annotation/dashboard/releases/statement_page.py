"""The one form that asks for what only a requester can say of a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.models import About, Statement
from annotation.release.statements import HELP, LONGEST, do_say, problem_of, said
from common.actions import ActionError
from common.seen_version import OutOfDateError, version_of

LINES = {About.CONTACT: 1, About.PAGE: 1, About.AUTHORS: 3}


@dataclass(frozen=True)
class Asked:
    """One field: what is asked, what stands in it, what is wrong with it, who said it last."""

    name: str
    label: str
    help: str
    text: str
    rows: int
    wrong: str
    last: Statement | None


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def statements(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Ask, and keep what is said; what is refused stays as it was typed."""
    collection = context.collection
    texts, problem, newer = said(collection), "", None
    if request.method == "POST":
        texts = {about: request.POST.get(about, "") for about in About.values}
        try:
            with context.unchanged(request, lambda: version_of(said(collection))):
                changed = do_say(collection, texts, name_of(request), timezone.now())
        except OutOfDateError as error:
            problem, newer = str(error), said(collection)
        except ActionError:
            problem = "Nothing was saved: what is wrong is marked below. Nothing typed is lost."
        else:
            told = "The next release will say it." if changed else "Nothing had changed."
            messages.success(request, f"Saved. {told}")
            return redirect(context.url("releases"))
    last = {row.about: row for row in Statement.objects.filter(collection=collection)}
    asked = [
        Asked(
            name=about,
            label=str(About(about).label),
            help=HELP[about],
            text=texts.get(about, ""),
            rows=LINES.get(About(about), 4),
            wrong=_wrong(about, texts.get(about, ""), newer) if problem else "",
            last=last.get(about),
        )
        for about in About.values
    ]
    return context.render(
        request,
        "releases/statements.html",
        status=400 if problem else 200,
        tab="releases",
        asked=asked,
        problem=problem,
        longest=LONGEST,
        seen=version_of(said(collection)),
    )


def _wrong(about: str, text: str, newer: Mapping[str, str] | None) -> str:
    """Return what is wrong with what was typed; for a page out of date, what is stored instead."""
    if newer is None:
        return problem_of(about, text.strip())
    stored = newer.get(about, "")
    return "" if text.replace("\r\n", "\n").strip() == stored else f"Stored now: {stored or '–'}"
