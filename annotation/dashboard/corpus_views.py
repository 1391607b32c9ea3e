"""Corpora: listed, uploaded into, read document by document, removed."""

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, F, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.dashboard.access import knows, name_of, requester_required
from annotation.dashboard.forms import UploadForm, refusals_shown, takes_documents
from annotation.dashboard.lists import ListQuery
from annotation.rehearsal.orders import forget_rehearsals
from collector.ingest.documents import uploads
from collector.ingest.documents.blocks import losses_told
from collector.ingest.documents.uploads import upload_documents
from collector.ingest.licences import ADDRESSES, CLOSED
from collector.models import Article, Corpus, DocumentUpload
from collector.models.corpus import CorpusKind, ParagraphKind
from collector.models.documents import users_of_documents
from common.actions import ActionError
from common.long_bodies import long_bodies_from
from common.long_work import WorkState
from common.sent_form import form_key, made_before

DOCUMENTS_PER_PAGE = 50
# What the list of documents can be sorted by, in words, the largest first where it is a number.
SORTED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "": ("id", ()),
    "title": ("title", ("title",)),
    "format": ("format", ("document__format",)),
    "pages": ("pages, most first", (F("document__n_pages").desc(nulls_last=True),)),
    "paragraphs": ("paragraphs, most first", ("-n_paragraphs",)),
}


@requester_required
@require_safe
def corpora(request: HttpRequest) -> HttpResponse:
    """List the corpora, and uploads for those that are not there yet."""
    rows = Corpus.objects.annotate(n_collections=Count("collections")).order_by("name", "slug")
    coming = DocumentUpload.objects.filter(corpus=None, state__in=DocumentUpload.GOING_ON)
    shown = {"corpora": [(row, _size(row)) for row in rows], "coming": coming}
    return render(request, "dashboard/corpora/list.html", shown)


@long_bodies_from(knows)
@requester_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Take documents for a new corpus, or for the one that the address names."""
    into = get_object_or_404(Corpus, slug=slug) if slug else None
    if into is not None and not takes_documents(into):
        return redirect("corpus", slug=into.slug)
    form = UploadForm(into=into)
    if request.method == "POST":
        files = {name: request.FILES.getlist(name) for name in ("documents", "folder")}
        form = UploadForm(request.POST, files, into=into)  # type: ignore[arg-type]
        made = _uploaded(request, form)
        if made:
            return redirect("corpus", slug=made.slug)
    status = 400 if form.errors else 200
    shown = {"form": form, "into": into, "licences": [*ADDRESSES, CLOSED]}
    return render(request, "dashboard/corpora/upload.html", shown, status=status)


def _uploaded(request: HttpRequest, form: UploadForm) -> DocumentUpload | None:
    """Return the upload that the form makes, or made when it was sent before; None if it cannot."""
    key = form_key(request)
    if form.is_valid():
        sent = form.cleaned_data["sent"]
        # No file or row can have the character that ends a text for a disk.
        paths = [path.replace("\0", "") for path in request.POST.getlist("path")]
        if len(paths) != len(sent):
            paths = [file.name or "" for file in sent]
        named = zip(paths, sent, strict=True)
        try:
            return upload_documents(form.options(), named, name_of(request), timezone.now(), key)
        except ActionError as error:
            form.add_error("documents", error.on_page)
    return made_before(DocumentUpload.objects.exclude(state=WorkState.FAILED), key)


@requester_required
@require_safe
def corpus(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a corpus: what is read now, what it holds, its documents, what was left out."""
    return render(request, "dashboard/corpora/corpus.html", _now(request, slug))


@requester_required
@require_safe
def corpus_now(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the part of the corpus's page that changes while files are read."""
    return render(request, "dashboard/parts/corpus_now.html", _now(request, slug))


@requester_required
@require_safe
def document(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show an article of a corpus as it was read, section by section."""
    rows = Article.objects.select_related("corpus", "document")
    article = get_object_or_404(rows, corpus__slug=slug, page_id=number)
    paragraphs = article.paragraphs.select_related("section").order_by("position")
    sections = [
        (section, [(row, _pages(row.pages)) for row in rows])
        for section, rows in groupby(paragraphs, key=lambda row: row.section)
    ]
    document = getattr(article, "document", None)
    shown = {
        "article": article,
        "corpus": article.corpus,
        "document": document,
        "left_out": losses_told(document.n_characters or 0, document.left_out) if document else "",
        "users": users_of_documents(article.corpus, Article.objects.filter(pk=article.pk))
        if document
        else [],
        "sections": sections,
    }
    return render(request, "dashboard/corpora/document.html", shown)


@requester_required
@require_POST
def remove_document(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Remove a document and its text for good; what is gone already is gone."""
    rows = Article.objects.select_related("corpus", "document").exclude(document=None)
    # A later document may have the number; none has the key.
    key = request.POST.get("article", "")
    found = rows.filter(corpus__slug=slug, page_id=number, pk=key if key.isdecimal() else "0")
    article = found.first()
    if article is not None:
        try:
            with transaction.atomic():
                uploads.remove_document(article)
                forget_rehearsals(article.corpus)
        except ActionError as error:
            messages.error(request, error.on_page)
            return redirect("document", slug=slug, number=number)
    messages.success(request, "Removed: its text is in no row and no index any more.")
    return redirect("corpus", slug=slug)


@requester_required
@require_POST
def remove_upload(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Remove what an upload brought, such as an archive's documents; all of it, or nothing."""
    found = DocumentUpload.objects.filter(slug=slug, pk=number, corpus__slug=slug).first()
    with refusals_shown(request):
        if found is None or found.corpus is None:
            raise ActionError("It was removed a moment ago.")
        with transaction.atomic():
            n = uploads.remove_upload(found)
            forget_rehearsals(found.corpus)
        done = f"{n:,} document{'s' if n != 1 else ''}"
        messages.success(
            request, f"Removed: {done}, whose text is in no row and no index any more."
        )
    return redirect("corpus", slug=slug)


@requester_required
@require_POST
def remove_corpus(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a corpus whose short name was typed, so that no slip of the hand does it."""
    corpus = Corpus.objects.filter(slug=slug).first()
    if corpus is not None:
        try:
            if request.POST.get("slug", "").strip() != slug:
                raise ActionError(f"Type its short name, {slug}, to remove it.")
            uploads.remove_corpus(corpus)
        except ActionError as error:
            messages.error(request, error.on_page)
            return redirect("corpus", slug=slug)
    messages.success(request, "Removed: its documents are in no row and no index any more.")
    return redirect("corpora")


def _now(request: HttpRequest, slug: str) -> dict[str, Any]:
    row = Corpus.objects.filter(slug=slug).first()
    last = DocumentUpload.objects.filter(slug=slug).first()
    if row is None and last is None:
        raise Http404
    is_of_documents = row is not None and row.kind == CorpusKind.DOCUMENTS
    sorts = SORTED if is_of_documents else {"": SORTED["title"], "paragraphs": SORTED["paragraphs"]}
    asked, of_lists = ListQuery(request.GET, sorts), Q(paragraphs__kind=ParagraphKind.LIST_ITEM)
    shown: dict[str, Any] = {"page": None}
    if row is not None:
        articles = (
            row.articles.filter(kind="article")
            .select_related("document")
            .annotate(
                n_paragraphs=Count("paragraphs", filter=~of_lists),
                n_items=Count("paragraphs", filter=of_lists),
            )
            .order_by(*sorts[asked.sort][1], "document__external_id", "title")
        )
        if asked.sought:
            words = Q(title__icontains=asked.sought)
            articles = articles.filter(words | Q(document__external_id__icontains=asked.sought))
        shown = asked.page(articles, DOCUMENTS_PER_PAGE)
    return shown | {
        "slug": slug,
        "name": (row or last).name or slug,  # type: ignore[union-attr]
        "corpus": row,
        "upload": last,
        "under_way": last is not None and last.is_going_on,
        "size": _size(row) if row else "",
        "left_out": losses_told(row.counts.get("characters", 0), row.counts.get("left_out", {}))
        if row
        else "",
        "takes_documents": row is not None and takes_documents(row),
        "collections": row.collections.order_by("slug") if row else (),
        "can_remove": is_of_documents,
        "uploads": [
            (each, len(each.outcome["added"]))
            for each in DocumentUpload.objects.filter(corpus=row)
            if row and each.outcome.get("added")
        ],
    }


def _size(corpus: Corpus) -> str:
    """Return in words how much a corpus holds."""
    counts = corpus.counts
    for kind in ("documents", "articles", "books"):
        if number := counts.get(kind):
            return f"{number:,} {kind if number > 1 else kind[:-1]}"
    return ""


def _pages(breaks: list[list[int]] | None) -> str:
    """Return the pages that a paragraph stands on, blank where there are none."""
    numbers = [number for _, number in breaks or ()]
    if not numbers:
        return ""
    return f"p. {numbers[0]}" if len(numbers) == 1 else f"pp. {numbers[0]}–{numbers[-1]}"
