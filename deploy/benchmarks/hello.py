"""The reference for pages: the smallest Django site, on the same server."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

if not settings.configured:
    settings.configure(
        SECRET_KEY="benchmark", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], USE_TZ=True
    )


def hello(request: HttpRequest) -> HttpResponse:
    """Return one line."""
    return HttpResponse("hello")


urlpatterns = [path("", hello)]
application = get_wsgi_application()
