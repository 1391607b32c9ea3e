"""Changing what a collection asks for: its parameters, and the words that workers read."""

import json

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.parameter_form import (
    label_of,
    labelled,
    readable_value,
    sheet_of,
)
from annotation.dashboard.forms import number_of
from annotation.dashboard.money.spending import spending_of
from collector.models import CollectionState
from collector.protocols.creation import (
    is_stored,
    newest,
    parameters_of,
    planned,
    revise,
    revise_text,
    revisions_of,
)
from common.actions import ActionError
from tasks.costs import estimate, live_hits, totals, totals_from_now
from tasks.ledger.pay_terms import KEY as HOURS
from tasks.ledger.pay_terms import n_under_way
from tasks.pages.wording import fill_placeholders, markdown

SHOWN = 50


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show what may change; what is asked for is shown with its cost before it is stored."""
    sheet = sheet_of(context, request.POST)
    preview, problem = None, ""
    if request.method == "POST":
        try:
            if _is_stored(request, context):
                return _saved(request, context)
            if sheet.problems:
                raise ActionError(
                    "What is filled in wrongly is marked below. Nothing typed is lost."
                )
            revision = planned(context.collection, sheet.wanted)
            changed = revision.applied_to(context.collection)
            collection, keys = context.collection, {each.key for each in revision.changes}
            live, touched = live_hits(collection), {key.partition(".")[0] for key in keys}
            preview = {
                "lines": [
                    (
                        label_of(each.key),
                        readable_value(each.key, each.old, context.parameters),
                        readable_value(each.key, each.new, context.parameters),
                    )
                    for each in revision.changes
                ],
                "before": spending_of(collection, totals(collection, estimate(collection))),
                "after": spending_of(changed, totals_from_now(changed)),
                "kept": [
                    (str(stage), live[stage.pk])
                    for stage in collection.stages.filter(name__in=touched)
                    if live.get(stage.pk)
                ],
                "begun": n_under_way(collection) if HOURS in keys else 0,
                "lost_seeds": revision.lost_seeds,
                "cautions": parameters_of(changed).cautions(),
                "wanted": json.dumps(sheet.wanted, sort_keys=True),
            }
            if request.POST.get("seen") != str(newest(context.collection)):
                raise ActionError(
                    "Somebody changed something meanwhile: what you typed is compared with the "
                    "newest values. Look, then save."
                )
            if request.POST.get("save"):
                if request.POST.get("previewed") != preview["wanted"]:
                    raise ActionError(
                        "You changed something since the preview: update it, then save."
                    )
                revise(
                    context.collection,
                    sheet.wanted,
                    why=request.POST.get("why", ""),
                    by=name_of(request),
                    now=timezone.now(),
                    seen=int(request.POST["seen"]),
                )
                return _saved(request, context)
        except ActionError as error:
            problem = labelled(error.on_page, context.parameters)
    return context.render(
        request,
        "collections/settings.html",
        status=400 if problem else 200,
        tab="collection",
        sheet=sheet,
        why=request.POST.get("why", ""),
        problem=problem,
        preview=preview,
        seen=newest(context.collection),
        is_draft=context.collection.state == CollectionState.DRAFT,
        revisions=[
            {
                "row": row,
                "label": label_of(row.key),
                "old": readable_value(row.key, row.old, context.parameters),
                "new": readable_value(row.key, row.new, context.parameters),
            }
            for row in revisions_of(context.collection).order_by("-at", "-pk")[:SHOWN]
        ],
    )


def _saved(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    messages.success(request, "Saved. It holds for everything posted from now on.")
    return redirect(context.url("change"))


def _is_stored(request: HttpRequest, context: CollectionContext) -> bool:
    """Return whether the form comes again, because the answer to it was lost."""
    try:
        wanted = json.loads(request.POST.get("previewed", ""))
        seen = int(request.POST.get("seen", ""))
    except ValueError:
        return False
    return (
        isinstance(wanted, dict)
        and "save" in request.POST
        and is_stored(
            context.collection,
            wanted,
            why=request.POST.get("why", ""),
            by=name_of(request),
            seen=seen,
        )
    )


@collection_page
@require_safe
def texts(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Lead to the first text: the consent."""
    names = _names(context)
    if not names:
        raise Http404
    return redirect(context.url("text", name=names[0]))


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def text(
    request: HttpRequest, context: CollectionContext, name: str, version: int = 0
) -> HttpResponse:
    """Show one version of a text as workers read it; a changed text becomes the next version."""
    versions = list(context.collection.texts.filter(name=name).order_by("-version"))
    shown = next((row for row in versions if row.version == version), None)
    if not versions or (version and shown is None):
        raise Http404
    shown = shown or versions[0]
    typed = request.POST.get("markdown", "").replace("\r\n", "\n").replace("\x00", "")
    problem = ""
    if request.method == "POST":
        seen = number_of(request.POST.get("version", ""), 9)
        try:
            revise_text(context.collection, name, typed, seen, timezone.now())
        except ActionError as error:
            problem = error.on_page
        else:
            sentence = "Saved as a new version. The next workers read it; work at hand goes on."
            messages.success(request, sentence)
            return redirect(context.url("text", name=name))
    return context.render(
        request,
        "collections/instructions.html",
        status=400 if problem else 200,
        tab="texts",
        names=[(each, _label(each)) for each in _names(context)],
        name=name,
        label=_label(name),
        versions=versions,
        shown=shown,
        is_current=shown == versions[0],
        html=markdown(
            fill_placeholders(shown.markdown, context.collection, context.parameters, name)
        ),
        typed=typed if request.method == "POST" else shown.markdown,
        problem=problem,
        editing=bool(problem) or (not version and "edit" in request.GET),
    )


def _names(context: CollectionContext) -> list[str]:
    """Return the names of the collection's texts: consent first, then as the stages go."""
    have = set(context.collection.texts.values_list("name", flat=True))
    ordered = ["consent", *context.parameters.stages()]
    return [name for name in ordered if name in have]


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()
