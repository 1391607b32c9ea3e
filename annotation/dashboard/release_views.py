"""Releases: asked for, shown with their files, described by the requester, and their baselines."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from html import escape, unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.baselines.paper_table import duration
from annotation.baselines.training_jobs import order_baseline
from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, View, collection_page
from annotation.dashboard.report_views import drawn
from annotation.decisions.verdicts import verdict_counts
from annotation.models import About, BaselineRun, Release, ReleaseOrder, Statement
from annotation.protocols.contracts import TRAINED
from annotation.release.comparison import compare
from annotation.release.dataset_card import shortened, without_header
from annotation.release.facts import (
    LONGEST_STATEMENT,
    STATEMENT_HELP,
    do_say,
    not_said,
    problem_of,
    statements_of,
)
from annotation.release.publish_release import beside_release
from annotation.release.release_folder import PIECE_BYTES, zipped
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from common.long_work import WorkState
from common.markup import html_of
from common.sent_form import OutOfDateError, version_of
from common.spreadsheet import csv_lines
from readers.trained import Trained

SUMS = "SHA256SUMS"
CARD = "README.md"
LEADS_TO = re.compile(r'\b(src|href)="([^"]*)"')
# An example stands near the beginning of its file; the rest of a large one is not read.
READ_CHARACTERS = 2_000_000
# Changed questions that the page shows; the file has all.
CHANGES_SHOWN = 200
RECIPES = {
    "small": "Small, for any machine",
    "paper": "As in the paper, for a graphics card",
}
# A machine that can train takes a run up within seconds.
SOON = timedelta(seconds=20)
LINES = {About.CONTACT: 1, About.PAGE: 1, About.AUTHORS: 3}


def card_html(path: Path, addresses: Mapping[str, str]) -> str:
    """Return a release's README as HTML; raw HTML in it is shown as text.

    addresses: of the release's files by name, to which its links and pictures lead.
    """

    def at_its_address(found: re.Match[str]) -> str:
        name = unescape(found[2])
        return f'{found[1]}="{escape(addresses[name])}"' if name in addresses else found[0]

    return LEADS_TO.sub(at_its_address, html_of(without_header(path.read_text("utf-8"))))


def first_example(folder: Path, names: list[str]) -> dict[str, str] | None:
    """Return the first example of the first of these JSON files that has one, else None.

    Its "json" is to be read, with long texts and lists cut short. The official layouts are lists of
    examples, or objects that hold such a list.
    """
    for name in names:
        with (folder / name).open(encoding="utf-8") as file:
            text = file.read(READ_CHARACTERS)
        start = text.find("[")
        found = text.find("{", start + 1)
        if start < 0 or found < 0 or text[start + 1 : found].strip():
            continue
        try:
            example, _ = json.JSONDecoder().raw_decode(text, found)
        except ValueError:
            continue
        text = json.dumps(shortened(example), indent=2, ensure_ascii=False)
        return {"file": name, "json": text}
    return None


@collection_page
@require_safe
def releases(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """List the releases and say how far a new one is."""
    return context.render(request, "releases/list.html", tab="releases", **_now(context))


@collection_page
@require_safe
def releases_now(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Return the part of the page that changes while a release is made."""
    return context.render(request, "parts/releases_now.html", tab="releases", **_now(context))


@collection_page
@require_POST
def make_release(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Ask for a release; a job makes it."""
    if ReleaseOrder.ask(collection=context.collection, by=name_of(request)) is None:
        messages.info(request, "A release is being made already: wait for it to be done.")
    return redirect(context.url("releases"))


@collection_page
@require_safe
def release(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Show one release: what it holds and every file with its checksum."""
    row = _release(context, number)
    # A file is not there where the folder was moved or lost.
    files = [
        {
            "name": name,
            "sha256": str(row.manifest[name]["sha256"]),
            "n_bytes": int(row.manifest[name]["bytes"]),
            "is_there": _path(row, name) is not None,
        }
        for name in sorted(row.manifest)
    ]
    # The first official file there is, training before others.
    folds = {re.split("[-_]", name)[0] for name in row.counts.get("questions") or {}}
    official = [
        name
        for name in row.manifest
        if name.endswith(".json") and _path(row, name) and any(fold in name for fold in folds)
    ]
    official.sort(key=lambda name: ("train" not in name, name))
    return context.render(
        request,
        "releases/release.html",
        tab="releases",
        release=row,
        splits=_splits(row),
        files=files,
        total_bytes=sum(row.manifest[name]["bytes"] for name in row.manifest),
        sums=SUMS if _path(row, SUMS) else "",
        is_there=any(file["is_there"] for file in files),
        is_whole=all(file["is_there"] for file in files),
        has_card=_path(row, CARD) is not None,
        has_baselines=bool(trained_baselines(context)),
        example=first_example(row.place, official),
        private=private if (private := beside_release(row.place)).is_dir() else None,
    )


@collection_page
@require_safe
def release_card(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Show the release's README as a page."""
    row = _release(context, number)
    path = _path(row, CARD)
    if path is None:
        raise Http404
    addresses = {
        name: context.url("release_file", number=number, name=name) for name in row.manifest
    }
    html = card_html(path, addresses)
    template = "releases/dataset_card.html"
    return context.render(request, template, tab="releases", release=row, html=html)


@collection_page
@require_safe
def release_zip(
    request: HttpRequest, context: CollectionContext, number: int
) -> StreamingHttpResponse:
    """Hand out all files of a release as one ZIP, made while it is sent."""
    row = _release(context, number)
    names = [name for name in sorted({*row.manifest, SUMS}) if _path(row, name)]
    if not names:
        raise Http404
    top = f"{context.collection.slug}-{row.number}"
    pieces = zipped(row.place.resolve(), names, top)
    headers = {"Content-Disposition": content_disposition_header(True, f"{top}.zip") or ""}
    return StreamingHttpResponse(_in_turn(pieces), content_type="application/zip", headers=headers)


@collection_page
@require_safe
def release_changes(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Show what came, went and changed since an earlier release, the one before unless named."""
    row = _release(context, number)
    others = list(
        Release.objects.filter(collection=context.collection, number__lt=number).order_by("-number")
    )
    asked = request.GET.get("since", "")
    since = next(
        (one for one in others if str(one.number) == asked),
        None if asked else others[0] if others else None,
    )
    if since is None:
        raise Http404
    shown: dict[str, Any] = {"release": row, "since": since, "others": others}
    try:
        found = compare(since.place, row.place)
    except ActionError as error:
        shown["problem"] = str(error)
    else:
        if "csv" in request.GET:
            name = f"{context.collection.slug}-{since.number}-to-{row.number}.csv"
            headers = {"Content-Disposition": content_disposition_header(True, name) or ""}
            text = "".join(csv_lines(found.lines()))
            return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
        shown |= {
            "tables": [drawn(table) for table in found.tables],
            "changes": found.changes[:CHANGES_SHOWN],
            "n_changes": len(found.changes),
            "note": found.note(),
        }
    return context.render(request, "releases/changes.html", tab="releases", **shown)


async def _in_turn(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what is made by reading files, each piece away from the event loop."""
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece


@collection_page
@require_safe
def release_file(
    request: HttpRequest, context: CollectionContext, number: int, name: str
) -> StreamingHttpResponse:
    """Hand out one file of a release in pieces; nothing outside its folder."""
    row = _release(context, number)
    path = _path(row, name)
    if path is None:
        raise Http404
    # Never a page in the browser: a released text must not run as one of ours. The README's
    # pictures are drawn in it all the same, where nothing of theirs runs.
    headers = {
        "Content-Disposition": content_disposition_header(True, path.name) or "attachment",
        "Content-Length": str(path.stat().st_size),
    }
    kind = "image/svg+xml" if name.endswith(".svg") else "application/octet-stream"
    return StreamingHttpResponse(_read(path), content_type=kind, headers=headers)


async def _read(path: Path) -> AsyncIterator[bytes]:
    """Yield the file in pieces; an ordinary file object would be read whole into memory first."""
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
            yield piece


def _now(context: CollectionContext) -> dict[str, Any]:
    order = ReleaseOrder.objects.filter(collection=context.collection).first()
    rows = list(Release.objects.filter(collection=context.collection).order_by("-number"))
    return {
        "verdicts": verdict_counts(context.collection),
        "releases": [(row, _splits(row), since) for row, since in zip_longest(rows, rows[1:])],
        "order": order,
        "not_said": not_said(statements_of(context.collection)),
        "under_way": order is not None and order.is_going_on,
    }


def _release(context: CollectionContext, number: int) -> Release:
    rows = Release.objects.select_related("supersedes")
    return get_object_or_404(rows, collection=context.collection, number=number)


def _splits(row: Release) -> list[tuple[str, int]]:
    return list((row.counts.get("questions") or {}).items())


def _path(row: Release, name: str) -> Path | None:
    """Return the file's path; None for a name the release does not have, or one that is gone."""
    if name != SUMS and name not in row.manifest:
        return None
    folder = row.place.resolve()
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder) and path.is_file() else None


def trained_baselines(context: CollectionContext) -> dict[str, Trained]:
    """Return the baselines that can be trained from a release of the collection, by name.

    Those that learn from what another has predicted are trained by the command alone.
    """
    protocol = get_protocol(context.collection.protocol)
    found = protocol.part(TRAINED).TRAINED if protocol.has(TRAINED, "TRAINED") else {}
    return {name: one for name, one in found.items() if one.train_files and not one.needs}


def baselines_page(view: Any) -> View:
    """Make a view a `collection_page` that gets its release; 404 where nothing can be trained."""

    def opened(
        request: HttpRequest, context: CollectionContext, number: int, **kwargs: Any
    ) -> HttpResponseBase:
        if not trained_baselines(context):
            raise Http404
        release = get_object_or_404(Release, collection=context.collection, number=number)
        found: HttpResponseBase = view(request, context, release, **kwargs)
        return found

    opened.__name__ = view.__name__
    return collection_page(opened)


@baselines_page
@require_safe
def baselines(request: HttpRequest, context: CollectionContext, release: Release) -> HttpResponse:
    """Show what can be trained on the release, and how far what was asked for is."""
    return context.render(
        request,
        "releases/baselines.html",
        tab="releases",
        names=[(name, one.about) for name, one in trained_baselines(context).items()],
        recipes=RECIPES.items(),
        **_runs(context, release),
    )


@baselines_page
@require_safe
def baselines_now(
    request: HttpRequest, context: CollectionContext, release: Release
) -> HttpResponse:
    """Return the part of the page that changes while baselines are trained."""
    return context.render(
        request, "parts/baselines_now.html", tab="releases", **_runs(context, release)
    )


@baselines_page
@require_POST
def begin_baseline(
    request: HttpRequest, context: CollectionContext, release: Release
) -> HttpResponse:
    """Ask for one baseline; a machine that runs collector-readers trains it."""
    name, recipe = request.POST.get("name", ""), request.POST.get("recipe", "")
    if name not in trained_baselines(context) or recipe not in RECIPES:
        messages.error(request, "Choose one of the baselines and a recipe.")
    elif order_baseline(release, name, recipe, name_of(request), timezone.now()) is None:
        messages.info(request, f"{name} is being trained by this recipe already.")
    return redirect(context.url("baselines", number=release.number))


@baselines_page
@require_POST
def end_baseline(
    request: HttpRequest, context: CollectionContext, release: Release, run: int
) -> HttpResponse:
    """Stop a run; what it has trained stays in its folder."""
    row = get_object_or_404(BaselineRun, pk=run, release=release)
    if row.stop(timezone.now()):
        messages.success(request, f"{row.name} was stopped.")
    else:
        messages.info(request, f"{row.name} has ended already.")
    return redirect(context.url("baselines", number=release.number))


def _runs(context: CollectionContext, release: Release) -> dict[str, Any]:
    """Return the runs of a release; `is_late`: no machine has taken it up.

    `about` is blank for what the protocol has no longer; `paper` has the paper's own numbers, with
    where they stand there; `left` is how long the rest of its step takes, where that is known.
    """
    known, now, runs = trained_baselines(context), timezone.now(), []
    for row in BaselineRun.objects.filter(release=release):
        trained, seconds = known.get(row.name), row.seconds_left
        of_paper = trained.paper.items() if trained else ()
        numbers = ", ".join(f"{name} {value:g}" for name, value in of_paper if value is not None)
        runs.append(
            {
                "row": row,
                "about": trained.about if trained else "",
                "paper": f"{numbers} ({trained.source})" if trained and numbers else "",
                "left": "" if seconds is None else f"about {duration(seconds)} left",
                "recipe": RECIPES.get(row.recipe, row.recipe).partition(",")[0],
                "is_late": row.state == WorkState.WAITING and row.asked_at < now - SOON,
            }
        )
    return {"release": release, "runs": runs}


@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def statements(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Ask, and keep what is said; what is refused stays as it was typed."""
    collection = context.collection
    texts, problem, newer = statements_of(collection), "", None
    if request.method == "POST":
        texts = {about: request.POST.get(about, "") for about in About.values}
        try:
            with context.unchanged(request, lambda: version_of(statements_of(collection))):
                changed = do_say(collection, texts, name_of(request), timezone.now())
        except OutOfDateError as error:
            problem, newer = str(error), statements_of(collection)
        except ActionError:
            problem = "Nothing was saved: what is wrong is marked below. Nothing typed is lost."
        else:
            told = "The next release will say it." if changed else "Nothing had changed."
            messages.success(request, f"Saved. {told}")
            return redirect(context.url("releases"))
    last = {row.about: row for row in Statement.objects.filter(collection=collection)}
    asked = [
        {
            "name": about,
            "label": str(About(about).label),
            "help": STATEMENT_HELP[about],
            "text": texts.get(about, ""),
            "rows": LINES.get(About(about), 4),
            "wrong": _wrong(about, texts.get(about, ""), newer) if problem else "",
            "last": last.get(about),
        }
        for about in About.values
    ]
    return context.render(
        request,
        "releases/statements.html",
        status=400 if problem else 200,
        tab="releases",
        asked=asked,
        problem=problem,
        longest=LONGEST_STATEMENT,
        seen=version_of(statements_of(collection)),
    )


def _wrong(about: str, text: str, newer: Mapping[str, str] | None) -> str:
    """Return what is wrong with what was typed; for a page out of date, what is stored instead."""
    if newer is None:
        return problem_of(about, text.strip())
    stored = newer.get(about, "")
    return "" if text.replace("\r\n", "\n").strip() == stored else f"Stored now: {stored or '–'}"
