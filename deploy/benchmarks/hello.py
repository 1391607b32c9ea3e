"""The references: the smallest Django site, and views that return bytes given at start."""

import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

if not settings.configured:
    settings.configure(
        SECRET_KEY="benchmark", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], USE_TZ=True
    )

FOLDER = os.environ.get("SAME_BYTES")
SAME = {one.name: one.read_bytes() for one in Path(FOLDER).iterdir()} if FOLDER else {}


def hello(request: HttpRequest) -> HttpResponse:
    """Return one line."""
    return HttpResponse("hello")


@csrf_exempt
def same(request: HttpRequest, name: str) -> HttpResponse:
    """Return the bytes of the file `name` in the folder SAME_BYTES."""
    # Left unread, a body makes the server close the connection now and then.
    _ = request.body
    return HttpResponse(SAME[name], content_type="application/x-amz-json-1.1")


urlpatterns = [path("", hello), path("same/<str:name>", same)]
application = get_wsgi_application()
