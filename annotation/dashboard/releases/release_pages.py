"""Releases: making one, what is in it, its files and checksums."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.releases.baseline_pages import trained_baselines
from annotation.dashboard.releases.report import drawn
from annotation.decisions.verdicts import verdict_counts
from annotation.models import Release, ReleaseOrder
from annotation.release.comparison import compare
from annotation.release.dataset_card import shortened
from annotation.release.hub_header import without_header
from annotation.release.publish_release import beside_release
from annotation.release.release_folder import PIECE_BYTES, zipped
from annotation.release.statements import not_said, said
from common.actions import ActionError
from common.markdown import html_of
from common.spreadsheet import csv_lines

SUMS = "SHA256SUMS"
CARD = "README.md"
LEADS_TO = re.compile(r'\b(src|href)="([^"]*)"')
# An example stands near the beginning of its file; the rest of a large one is not read.
READ_CHARACTERS = 2_000_000
# The page shows so many changed questions; the file has all.
CHANGES_SHOWN = 200


@dataclass(frozen=True)
class Example:
    """The first example of a file, its long texts and lists cut short, as JSON to read."""

    file: str
    json: str


def card_html(path: Path, addresses: Mapping[str, str]) -> str:
    """Return a release's README as HTML; raw HTML in it is shown as text.

    addresses: of the release's files by name, to which its links and pictures lead.
    """

    def at_its_address(found: re.Match[str]) -> str:
        name = unescape(found[2])
        return f'{found[1]}="{escape(addresses[name])}"' if name in addresses else found[0]

    return LEADS_TO.sub(at_its_address, html_of(without_header(path.read_text("utf-8"))))


def first_example(folder: Path, names: list[str]) -> Example | None:
    """Return the first example of the first of these JSON files that has one, else None.

    The official layouts are lists of examples, or objects that hold such a list.
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
        return Example(name, json.dumps(shortened(example), indent=2, ensure_ascii=False))
    return None


@dataclass(frozen=True)
class ReleasedFile:
    """One file of a release; `is_there` is false when the folder was moved or lost."""

    name: str
    sha256: str
    n_bytes: int
    is_there: bool


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
    files = [_file(row, name) for name in sorted(row.manifest)]
    return context.render(
        request,
        "releases/release.html",
        tab="releases",
        release=row,
        splits=_splits(row),
        files=files,
        total_bytes=sum(file.n_bytes for file in files),
        sums=SUMS if _path(row, SUMS) else "",
        is_there=any(file.is_there for file in files),
        is_whole=all(file.is_there for file in files),
        has_card=_path(row, CARD) is not None,
        has_baselines=bool(trained_baselines(context)),
        example=_example(row),
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
        "not_said": not_said(said(context.collection)),
        "under_way": order is not None and order.is_going_on,
    }


def _release(context: CollectionContext, number: int) -> Release:
    rows = Release.objects.select_related("supersedes")
    return get_object_or_404(rows, collection=context.collection, number=number)


def _splits(row: Release) -> list[tuple[str, int]]:
    return list((row.counts.get("questions") or {}).items())


def _example(row: Release) -> Example | None:
    """Return the first example of the first official file there is, training before others."""
    folds = {re.split("[-_]", name)[0] for name in row.counts.get("questions") or {}}
    files = [name for name in row.manifest if name.endswith(".json") and _path(row, name)]
    official = [name for name in files if any(fold in name for fold in folds)]
    return first_example(row.place, sorted(official, key=lambda name: "train" not in name))


def _file(row: Release, name: str) -> ReleasedFile:
    entry = row.manifest[name]
    return ReleasedFile(
        name, str(entry["sha256"]), int(entry["bytes"]), _path(row, name) is not None
    )


def _path(row: Release, name: str) -> Path | None:
    """Return the file's path; None for a name the release does not have, or one that is gone."""
    if name != SUMS and name not in row.manifest:
        return None
    folder = row.place.resolve()
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder) and path.is_file() else None
