"""Says who may send more than a million bytes to which page: people it knows, where it takes files.

What strangers send is kept by nobody.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.urls import Resolver404, resolve

Page = TypeVar("Page", bound=Callable[..., Any])
# The longest of what people type into one form, and of what their programs send.
SHORT_BYTES = 1_000_000


def long_bodies_from(knows: Callable[..., bool]) -> Callable[[Page], Page]:
    """Mark a page that takes long bodies; `knows(request, **what the address names)`: from whom.

    The request has its address and headers alone, and has been through no middleware.
    """

    def marked(page: Page) -> Page:
        page.long_bodies_from = knows  # type: ignore[attr-defined]
        return page

    return marked


def may_send(request: HttpRequest) -> bool:
    """Return whether this request may have a body of more than SHORT_BYTES."""
    host = request.META.get("HTTP_HOST", "").rsplit(":", 1)[0].lower()
    urlconf = getattr(settings, "HOST_URLCONFS", {}).get(host, settings.ROOT_URLCONF)
    try:
        found = resolve(request.path_info, urlconf)
    except Resolver404:
        return False
    knows = getattr(found.func, "long_bodies_from", None)
    return knows is not None and bool(knows(request, *found.args, **found.kwargs))
