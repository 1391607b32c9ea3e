"""What a format of documents is, and the catalogue of all: each class in the folder `formats`.

To add a format, put a file with one class into that folder. Pages, refusals and the command's help
name it from there, and a document's row keeps its name.
"""

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import ClassVar

from collector.ingest.decoding import decoded_text
from collector.ingest.documents.blocks import DocumentRow, DocumentText
from collector.ingest.errors import DocumentError
from collector.processes import CPU_SECONDS_PER_MIB

FORMATS = "collector.ingest.documents.formats"
_WRONG = "\N{REPLACEMENT CHARACTER}"


class DocumentFormat:
    """How the files of a format become documents; override `read`, or `rows` for a table of them.

    name: as a document's row keeps it, and as a refusal lists it. label: as pages show it. help: as
    the page for uploads lists it. extensions: of such files, in small letters and without a dot.
    rank: where it stands in such lists; equal ones by name. begins_with: what such files begin with
    and texts never do, what that is, and the ending to give it. needs: modules to load before the
    limits of a file begin, since they are long to load. cpu_seconds_per_mib: the limit of reading.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    rank: ClassVar[int] = 100
    begins_with: ClassVar[tuple[bytes, str, str] | None] = None
    needs: ClassVar[tuple[str, ...]] = ()
    cpu_seconds_per_mib: ClassVar[int] = CPU_SECONDS_PER_MIB
    has_rows: ClassVar[bool] = False

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the document in the file at `path`, called `name`; raises DocumentError."""
        raise NotImplementedError

    def rows(self, path: Path, name: str) -> Iterator[DocumentRow | DocumentError]:
        """Yield the documents of a table and, for each row that holds none, why.

        Asked where `has_rows`. Raises DocumentError where the file is no such table.
        """
        raise NotImplementedError


@cache
def formats() -> dict[str, DocumentFormat]:
    """Return every format by its name, in the order in which pages list them."""
    folder = import_module(FORMATS).__path__
    modules = [import_module(f"{FORMATS}.{each.name}") for each in pkgutil.iter_modules(folder)]
    found = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, DocumentFormat)
        and each.__module__ == module.__name__
    ]
    return {each.name: each() for each in sorted(found, key=lambda each: (each.rank, each.name))}


def format_of(file_name: str) -> DocumentFormat | None:
    """Return the format of a file by the ending of its name; None where no format has it."""
    ending = PurePosixPath(file_name).suffix.lower().removeprefix(".")
    return next((each for each in formats().values() if ending in each.extensions), None)


def label_of(name: str) -> str:
    """Return the label of the format called `name`; the name where its file is gone."""
    return formats()[name].label if name in formats() else name


def listed() -> str:
    """Return what can be read, for a refusal: the names of the formats."""
    return f"{', '.join(formats())}, or a zip of these"


def described() -> str:
    """Return what can be read, as the page for uploads lists it."""
    return ", ".join(each.help for each in formats().values())


def text_of(path: Path, name: str) -> str:
    """Return the text of a file; raises DocumentError for UTF-8 with a few bytes that are none."""
    content = path.read_bytes()
    for start, what, ending in filter(None, (each.begins_with for each in formats().values())):
        if content.startswith(start):
            raise DocumentError(f"{name} is {what} by what it holds: give it the ending {ending}.")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        seen = content.decode(errors="replace")
        n_wrong, n_right = seen.count(_WRONG), sum(letter > "\x7f" for letter in seen)
        if n_right > 4 * n_wrong:
            places = "one place" if n_wrong == 1 else f"{n_wrong:,} places, the first"
            raise DocumentError(
                f"{name} is UTF-8 but for {places} at byte {error.start}: save it as UTF-8 again."
            ) from None
    return decoded_text(content, name).text
