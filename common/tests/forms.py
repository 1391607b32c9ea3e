"""The forms of a site: every route that takes a POST, and what a page's form carries unseen."""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver


def posting_routes(urls: str) -> set[str]:
    """Return the names of the routes that take a POST; a view that names no method takes all."""
    return {
        str(each.name)
        for each in _patterns(get_resolver(urls))
        if "POST" in _methods(each.callback)
    }


def _patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from _patterns(each)
        else:
            yield each


def _methods(view: Any) -> list[str]:
    """Return the methods that `require_http_methods` lets through to a view."""
    cells = dict(zip(view.__code__.co_freevars, view.__closure__ or (), strict=True))
    if "request_method_list" in cells:
        return list(cells["request_method_list"].cell_contents)
    cell = cells.get("view")
    inside = getattr(view, "__wrapped__", None) or (cell and cell.cell_contents)
    return _methods(inside) if inside else ["GET", "HEAD", "POST"]


def hidden_in(html: str, address: str) -> dict[str, str]:
    """Return what the page's first form that posts to `address` carries unseen.

    That is the version it was shown at, the key it is sent by once, what it would bind, and whether
    it means any of a kind.
    """
    for action, inside in re.findall(r'<form[^>]* action="([^"]+)"[^>]*>(.*?)</form>', html, re.S):
        if action.partition("?")[0] == address.partition("?")[0]:
            return dict(
                re.findall(r'name="(seen|once|attempt|maximum|cost|any)" value="([^"]*)"', inside)
            )
    return {}
