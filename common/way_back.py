"""Where a form leads that a visitor was sent to from another page: back to it, if it is ours."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def way_back(request: HttpRequest, otherwise: str, under: str = "/") -> str:
    """Return the path that `next` names, or `otherwise` unless it is one of this site, `under` it.

    A word without a slash is no path: it may be the name of a page, or of nothing.
    """
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_here = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return wanted if is_here and wanted.startswith(under) else otherwise
