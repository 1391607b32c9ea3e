"""The start page: what this is, and three doors."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.dashboard.access import requester_required
from annotation.dashboard.collections.summaries import summaries_of
from annotation.models import Release
from collector.models import Collection

SHOWN = 6


@requester_required
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Show the three doors and how the collections stand."""
    collections = list(Collection.objects.filter(archived_at=None).select_related("corpus")[:SHOWN])
    newest = Release.objects.select_related("collection").order_by("-created_at", "-pk").first()
    return render(
        request,
        "dashboard/collections/start.html",
        {
            "marketplace_url": settings.MARKETPLACE_URL,
            "release": newest,
            "summaries": summaries_of(collections),
        },
    )
