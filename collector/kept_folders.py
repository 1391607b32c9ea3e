"""Names folders in rows so that home and releases can be moved, or lie elsewhere on another host.

What is in one of these is named from there (home/uploads/…, releases/…), other folders absolutely.
"""

from pathlib import Path

from django.conf import settings


def _bases() -> dict[str, Path]:
    return {"releases": Path(settings.RELEASES), "home": Path(settings.HOME)}


def named(folder: Path) -> str:
    """Return what a row keeps of an absolute path."""
    for name, base in _bases().items():
        if folder.is_relative_to(base):
            return f"{name}/{folder.relative_to(base)}"
    return str(folder)


def found(name: str) -> Path:
    """Return the path that a row means, here and now."""
    first, _, rest = name.partition("/")
    base = _bases().get(first)
    return base / rest if base else Path(name)
