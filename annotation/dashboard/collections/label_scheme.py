"""Writing the labels of a stage: a scheme as a form, saved as the stage's own, tried as a page."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from annotation.dashboard.access import knows, name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.collections.scheme_form import (
    first_new,
    read_typed,
    sheet_of,
    typed_from,
    typed_in,
    without,
)
from annotation.dashboard.forms import number_of
from collector.models import CollectionState
from collector.protocols.label_schemes import (
    SchemeTable,
    every_scheme,
    label_stages,
    parse_scheme,
    scheme_of_stage,
    toml_of,
)
from collector.protocols.loading import ProtocolError
from collector.protocols.revisions import is_unopened, newest, revise
from collector.protocols.stage_tables import LabelTable
from collector.protocols.texts import current_text
from common.actions import ActionError
from common.long_bodies import long_bodies_from
from tasks.pages.work_page import trial_page
from tasks.people import lease_context
from tasks.work.kinds.registry import kind_of

# What nobody has written yet.
BLANK = "blank"
LARGEST_FILE = 200_000
MOST_IN_A_NAME = 40


@long_bodies_from(knows)
@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def label_scheme(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Show the labels of a stage as a form; what is refused keeps all that was typed."""
    table = _table(context, stage)
    if request.method == "POST":
        return _answer(request, context, stage)
    schemes = every_scheme()
    start = request.GET.get("from", "")
    typed = {} if start == BLANK else typed_from(schemes.get(start) or scheme_of_stage(table))
    return _page(request, context, stage, typed, {}, is_stored=start not in (BLANK, *schemes))


@collection_page
@require_safe
def try_scheme(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Show the page of the stage as its workers see it, to try; nothing of it is kept."""
    table = _table(context, stage)
    row = context.collection.stages.select_related("collection").get(name=stage)
    words = current_text(context.collection, stage)
    setting = lease_context.stage_context_of(row.pk, words.pk)
    items = kind_of(row).trial_items(row)
    return HttpResponse(trial_page(setting, table.reward_cents, timezone.now(), items))


@collection_page
@require_safe
def scheme_file(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Return the labels of the stage as a file of a protocol's folder labels/."""
    table = _table(context, stage)
    name = table.scheme or stage
    disposition = f'attachment; filename="{name}.toml"'
    return HttpResponse(
        toml_of(scheme_of_stage(table)),
        content_type="application/toml",
        headers={"Content-Disposition": disposition},
    )


def _table(context: CollectionContext, stage: str) -> LabelTable:
    """Return what a stage labels by; raises Http404 for another kind of stage."""
    stages = label_stages(context.parameters)
    if stage not in stages:
        raise Http404
    return stages[stage]


def _answer(request: HttpRequest, context: CollectionContext, stage: str) -> HttpResponse:
    """Do what the form asks for: more boxes, fewer, a file in place of them, or to save."""
    typed = typed_in(request.POST)
    act, _, part = request.POST.get("do", "").partition(" ")
    if act == "more":
        return _page(request, context, stage, typed, {}, more=part)
    if act == "drop":
        return _page(request, context, stage, without(typed, part), {})
    if act == "read":
        return _read_file(request, context, stage, typed)
    reading = read_typed(typed)
    if reading.scheme is None:
        return _page(request, context, stage, typed, reading.wrong, status=400)
    try:
        _store(request, context, stage, reading.scheme)
    except ActionError as error:
        return _page(request, context, stage, typed, {}, problem=error.on_page, status=400)
    if act == "try":
        return redirect(context.url("try_scheme", stage=stage))
    messages.success(request, "Saved. Whoever labels from now on chooses from these.")
    return redirect(context.url("label_scheme", stage=stage))


def _read_file(
    request: HttpRequest, context: CollectionContext, stage: str, typed: dict[str, str]
) -> HttpResponse:
    """Put a scheme's file into the form, not saved yet; a refused one leaves it as it was."""
    file = request.FILES.get("file")
    problem = ""
    if file is None:
        problem = "Choose a file first."
    elif (file.size or 0) > LARGEST_FILE:
        problem = f"{file.name} is too large to be a label scheme."
    else:
        try:
            typed = typed_from(parse_scheme(file.read(), str(file.name)))
        except ProtocolError as error:
            problem = str(error)
    status = 400 if problem else 200
    return _page(request, context, stage, typed, {}, problem=problem, status=status)


def _store(
    request: HttpRequest, context: CollectionContext, stage: str, scheme: SchemeTable
) -> None:
    """Make the scheme the stage's own; the same once more is no change. Raises ActionError."""
    told = scheme.model_dump(mode="json")
    wanted = {
        f"{stage}.fields": told["fields"],
        f"{stage}.scheme": slugify(scheme.title)[:MOST_IN_A_NAME] or stage,
        f"{stage}.scheme_title": scheme.title,
        f"{stage}.scheme_source": scheme.source,
    }
    stored = _table(context, stage).model_dump(mode="json")
    if all(stored[key.partition(".")[2]] == value for key, value in wanted.items()):
        return
    seen = request.POST.get("seen", "")
    revise(
        context.collection,
        wanted,
        why=scheme.source,
        by=name_of(request),
        now=timezone.now(),
        seen=number_of(seen, otherwise=-1),
    )


def _page(
    request: HttpRequest,
    context: CollectionContext,
    stage: str,
    typed: dict[str, str],
    wrong: dict[str, str],
    *,
    more: str = "",
    problem: str = "",
    is_stored: bool = False,
    status: int = 200,
) -> HttpResponse:
    sheet = sheet_of(typed, wrong, more=more)
    collection = context.collection
    return context.render(
        request,
        "collections/label_scheme.html",
        status=status,
        tab="collection",
        stage=stage,
        words=stage.replace("_", " ").capitalize(),
        table=_table(context, stage),
        sheet=sheet,
        problem=problem,
        focus=first_new(typed, sheet, more),
        is_stored=is_stored,
        can_change=collection.state == CollectionState.DRAFT or is_unopened(collection, stage),
        schemes=[(name, each.title) for name, each in every_scheme().items()],
        seen=newest(collection),
    )
