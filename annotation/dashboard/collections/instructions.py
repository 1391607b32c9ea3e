"""The words workers read: consent and instructions, each edit a new version."""

from datetime import datetime

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.dashboard.collection_context import Desk, on_desk
from collector.models import Collection, CollectionText
from tasks.pages.wording import fill, markdown

MAX_CHARACTERS = 50_000


@on_desk
@require_safe
def texts(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Lead to the first text: the consent."""
    names = _names(desk)
    if not names:
        raise Http404
    return redirect(desk.url("text", name=names[0]))


@on_desk
@require_http_methods(["GET", "HEAD", "POST"])
def text(request: HttpRequest, desk: Desk, name: str, version: int = 0) -> HttpResponse:
    """Show one version of a text as workers read it; a changed text becomes the next version."""
    versions = list(desk.collection.texts.filter(name=name).order_by("-version"))
    shown = next((row for row in versions if row.version == version), None)
    if not versions or (version and shown is None):
        raise Http404
    shown = shown or versions[0]
    typed = request.POST.get("markdown", "").replace("\r\n", "\n").replace("\x00", "")
    problem = ""
    if request.method == "POST":
        problem = _problem(typed, request.POST.get("version", ""), versions[0])
        problem = problem or _save(desk.collection, versions[0], typed, timezone.now())
        if not problem:
            sentence = "Saved as a new version. Whoever comes next reads it; work at hand goes on."
            messages.success(request, sentence)
            return redirect(desk.url("text", name=name))
    return desk.render(
        request,
        "collections/instructions.html",
        status=400 if problem else 200,
        tab="texts",
        names=[(each, _label(each)) for each in _names(desk)],
        name=name,
        label=_label(name),
        versions=versions,
        shown=shown,
        is_current=shown == versions[0],
        html=markdown(fill(shown.markdown, desk.collection, desk.parameters, name)),
        typed=typed if request.method == "POST" else shown.markdown,
        problem=problem,
        editing=bool(problem) or (not version and "edit" in request.GET),
    )


def _names(desk: Desk) -> list[str]:
    """Return the names of the collection's texts: consent first, then as the stages go."""
    have = set(desk.collection.texts.values_list("name", flat=True))
    ordered = ["consent", *desk.parameters.stages()]
    return [name for name in ordered if name in have]


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _problem(typed: str, version: str, newest: CollectionText) -> str:
    """Return why the text cannot be saved, blank when it can."""
    if not typed.strip():
        return "Write the text: workers must read something before they work."
    if len(typed) > MAX_CHARACTERS:
        return f"The text has {len(typed):,} characters; {MAX_CHARACTERS:,} are the most."
    if version != str(newest.version):
        return (
            f"Somebody saved version {newest.version} meanwhile. What you typed is below: "
            "compare it with the newest version, then save again."
        )
    if typed == newest.markdown:
        return "Nothing is changed yet, so there is nothing to save."
    return ""


def _save(collection: Collection, newest: CollectionText, typed: str, now: datetime) -> str:
    """Store the next version; returns what to say when somebody else was first."""
    try:
        with transaction.atomic():
            collection.texts.create(
                name=newest.name, version=newest.version + 1, markdown=typed, created_at=now
            )
    except IntegrityError:
        return "Somebody saved a version at the same moment: compare it, then save again."
    return ""
