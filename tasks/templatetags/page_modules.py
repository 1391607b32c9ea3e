"""The scripts of a worker's page, asked for all at once instead of import after import."""

import re
from functools import lru_cache
from pathlib import Path, PurePosixPath

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()
IMPORT = re.compile(r'^import .* from "(\./|\.\./)(.+)";$', re.MULTILINE)


@register.simple_tag
def preloads(entry: str) -> SafeString:
    """Return links that let the browser fetch a static module and all it imports in one go."""
    links = ((static(path),) for path in modules_of(entry))
    return format_html_join("\n", '<link rel="modulepreload" href="{}">', links)


@lru_cache(maxsize=16)
def modules_of(entry: str) -> tuple[str, ...]:
    """Return the static paths of a module and of everything it imports, itself first."""
    found: dict[str, None] = {}
    waiting = [PurePosixPath(entry)]
    while waiting:
        path = waiting.pop(0)
        if str(path) in found:
            continue
        found[str(path)] = None
        for up, name in IMPORT.findall(_source(str(path))):
            waiting.append((path.parent.parent if up == "../" else path.parent) / name)
    return tuple(found)


def _source(path: str) -> str:
    """Return a static file's text; raises FileNotFoundError with its name."""
    place = finders.find(path)
    if not isinstance(place, str):
        raise FileNotFoundError(path)
    return Path(place).read_text("utf-8")
