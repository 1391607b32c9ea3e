"""Finds the documents' files: given ones, those of folders and of zip archives; safe to open."""

import errno
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from collector.ingest.documents.blocks import MAX_ID
from collector.ingest.documents.catalogue import format_of, listed
from collector.ingest.errors import DocumentError
from collector.processes import Limits, PassedLimit, cpu_seconds, in_processes, run_limited
from common.storable import is_text

MOST_FILES = 20_000
MOST_BYTES = 200 << 20
# What a zip archive may hold unpacked, and how many times more than packed.
MOST_UNPACKED_BYTES = 2 << 30
MOST_RATIO, SMALL_BYTES = 200, 10 << 20
_PIECE = 1 << 20
# Left behind by systems, and no document.
_PASSED_OVER = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})
# What is raised at an archive that is no good.
_DAMAGE: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    EOFError,
    ValueError,
)


@dataclass(frozen=True)
class DocumentFile:
    """A file to read: at `path`, or the `member` of the zip archive there.

    `name` is its path inside the folder or archive, which is the document's id.
    """

    name: str
    path: Path
    member: str = ""

    @property
    def format(self) -> str:
        """Return what it is read as, blank for an ending that is not known."""
        found = format_of(self.name)
        return found.name if found else ""

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Give the path of the file, that of a copy for a member of an archive.

        Raises DocumentError for a member that is larger than it says, or damaged.
        """
        if not self.member:
            yield self.path
            return
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"document{PurePosixPath(self.name).suffix.lower()}"
            with (
                damage_told(f"{self.name} is damaged inside {self.path.name}."),
                zipfile.ZipFile(self.path) as archive,
                archive.open(self.member) as packed,
                path.open("wb") as file,
            ):
                while piece := packed.read(_PIECE):
                    file.write(piece)
                    if file.tell() > MOST_BYTES:
                        raise _too_large(self.name)
            yield path


@contextmanager
def damage_told(why: str, *also: type[Exception]) -> Iterator[None]:
    """Raise DocumentError, which says why, for an archive that cannot be read.

    also: what a reader of its members raises where these are damaged.
    """
    try:
        yield
    except (*_DAMAGE, *also) as error:
        raise DocumentError(why) from error
    except OSError as error:
        # An archive may name places before its own beginning; another failure is of the machine.
        if error.errno != errno.EINVAL:
            raise
        raise DocumentError(why) from error


def find_files(paths: Iterable[Path]) -> tuple[list[DocumentFile], list[str]]:
    """Return the files to read, and for each file or archive that is left out why, in one line.

    An archive is taken whole or not at all. Raises DocumentError for a path that is not there.
    """
    found: list[DocumentFile] = []
    left_out: list[str] = []
    for path in paths:
        if path.is_dir():
            files = [each for each in sorted(path.rglob("*")) if each.is_file()]
            inner = [(each, each.relative_to(path).as_posix()) for each in files]
        elif path.is_file():
            inner = [(path, path.name)]
        else:
            raise DocumentError(f"There is no file {path}.")
        for each, name in inner:
            try:
                found += _files_at(each, name)
            except DocumentError as error:
                left_out.append(str(error))
    if len(found) > MOST_FILES:
        raise DocumentError(f"More than {MOST_FILES:,} files at once: give them in parts.")
    refusals = [(each, _refusal(each)) for each in found]
    left_out += [why for _, why in refusals if why]
    return [each for each, why in refusals if not why], left_out


def _files_at(path: Path, name: str) -> list[DocumentFile]:
    if _is_passed_over(name):
        return []
    if PurePosixPath(name).suffix.lower() == ".zip":
        try:
            return next(in_processes(1, _members_limited, iter([(path, name)])))
        except PassedLimit as limit:
            raise DocumentError(
                f"{name} was not opened: to list what it holds takes {limit}. Give it in parts."
            ) from None
    return [DocumentFile(name, path)]


def _is_passed_over(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith(".") and part != ".." for part in parts)
    return hidden or bool(_PASSED_OVER & {*parts})


def _refusal(file: DocumentFile) -> str:
    """Return why a file is left out unread, blank if it is not."""
    if not is_text(file.name):
        return f"{file.name!a} has a name that is no text in UTF-8: give it another."
    if PurePosixPath(file.name).suffix.lower() == ".zip":
        return f"{file.name} is an archive inside another: unpack it and give its files."
    if not file.format:
        return f"{file.name} is none of what can be read: {listed()}."
    if len(file.name) > MAX_ID:
        return f"{file.name[:60]}… has a path of more than {MAX_ID} characters."
    if not file.member and file.path.stat().st_size > MOST_BYTES:
        return str(_too_large(file.name))
    return ""


def _too_large(name: str) -> DocumentError:
    return DocumentError(f"{name} is larger than {MOST_BYTES >> 20} MiB: give it in parts.")


def _members_limited(archive: tuple[Path, str]) -> list[DocumentFile]:
    path = archive[0]
    return run_limited(_listed, archive, Limits(cpu_seconds(path.stat().st_size), (path,)))


def _listed(archive_at: tuple[Path, str]) -> list[DocumentFile]:
    path, name = archive_at
    with (
        damage_told(f"{name} is no zip archive, or a damaged one."),
        zipfile.ZipFile(path) as archive,
    ):
        members = [each for each in archive.infolist() if not each.is_dir()]
    check_members(members, name)
    return [
        DocumentFile(each.filename, path, each.filename)
        for each in members
        if not _is_passed_over(each.filename)
    ]


def check_members(members: list[zipfile.ZipInfo], name: str) -> None:
    """Raise DocumentError for an archive that would harm: a bomb, or one that climbs out."""
    for each in members:
        path = PurePosixPath(each.filename.replace("\\", "/"))
        is_link = stat.S_ISLNK(each.external_attr >> 16)
        has_drive = any(":" in part for part in path.parts[:1])
        if is_link or path.is_absolute() or ".." in path.parts or has_drive:
            raise DocumentError(
                f"{name} was not opened: its file {each.filename!r} leads out of the archive."
            )
        if each.flag_bits & 1:
            raise DocumentError(f"{name} is locked by a password.")
    unpacked = sum(each.file_size for each in members)
    packed = sum(each.compress_size for each in members)
    if unpacked > MOST_UNPACKED_BYTES or (
        unpacked > SMALL_BYTES and unpacked > MOST_RATIO * max(packed, 1)
    ):
        raise DocumentError(
            f"{name} was not opened: unpacked it would be {unpacked >> 20:,} MiB, "
            f"{unpacked // max(packed, 1):,} times what it is packed."
        )
    if len(members) > MOST_FILES:
        raise DocumentError(f"{name} holds more than {MOST_FILES:,} files: give it in parts.")
