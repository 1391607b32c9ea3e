"""The words workers read: consent and instructions, each edit a new version."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import number_of
from collector.protocols.texts import revise_text
from common.actions import ActionError
from tasks.pages.wording import fill_placeholders, markdown


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
            sentence = "Saved as a new version. Whoever comes next reads it; work at hand goes on."
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
