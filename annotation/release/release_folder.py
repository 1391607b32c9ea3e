"""The folder of a release: written beside, checked, zipped, and handed on."""

import fcntl
import hashlib
import importlib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath

from annotation.models import Release
from common.actions import ActionError
from common.safe_files import inside

SUMS = "SHA256SUMS"
# In the name of a folder in which something is made.
OURS = ".made-"
# In a folder that becomes a release: where its parts go, once that is known.
PLACES = "places.json"
READ_BYTES = 1 << 20
PIECE_BYTES = 1 << 16
# The first day that the format knows.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
INSTALL = (
    "Putting a release on the hub needs huggingface_hub, which is not installed: make setup-hub."
)
TOKEN = "HF_TOKEN"
ENDPOINT = "HF_ENDPOINT"
AGAIN = "Run it again: what the hub has already is not sent twice."


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield a `folder_beside` the target.

    Raises ActionError where it cannot be made, or for an OSError in the block.
    """
    with ExitStack() as ends:
        try:
            folder = ends.enter_context(folder_beside(target))
        except OSError as error:
            raise ActionError(
                f"{target.parent}: nothing can be written there ({error.strerror}); choose another "
                "folder with --out."
            ) from None
        try:
            yield folder
        except OSError as error:
            raise ActionError(
                f"{target}: the release could not be written ({error.strerror}); nothing was "
                "changed. Make room or choose another folder with --out."
            ) from None


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a new empty folder on the target's file system, removed again at the end.

    It is locked meanwhile, so that `left_behind` knows that somebody is at it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder, lock = _new_folder(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _new_folder(target: Path) -> tuple[Path, int]:
    """Return a folder and what holds its lock until it is closed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}{OURS}", dir=target.parent))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        # Until it was locked it looked like one that was left behind.
        os.close(lock)


def left_behind(base: Path) -> Iterator[Path]:
    """Yield what `beside` made in `base` for somebody who has died, each locked meanwhile."""
    for folder in base.glob(f".*{OURS}????????"):
        with suppress(FileNotFoundError, BlockingIOError):
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield folder
            finally:
                os.close(lock)


def put(folder: Path, name: str, chunks: Iterable[bytes]) -> None:
    """Write one file of the release; its name may have a folder before it."""
    path = folder
    for part in PurePosixPath(name).parts:
        path.mkdir(exist_ok=True)
        path = inside(path, part)
    with path.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)


def digests(folder: Path) -> dict[str, dict[str, str | int]]:
    """Return {"sha256", "bytes"} of every file but the sums, by name."""
    return {
        name: {"sha256": sha256_of(folder / name), "bytes": (folder / name).stat().st_size}
        for name in _names(folder)
        if name != SUMS
    }


def write_sums(folder: Path) -> None:
    """Write the checksums of all other files, as `sha256sum -c SHA256SUMS` reads them."""
    lines = [f"{entry['sha256']}  {name}\n" for name, entry in digests(folder).items()]
    put(folder, SUMS, [line.encode() for line in lines])


def is_same(folder: Path, other: Path) -> bool:
    """Return whether both folders hold the same files, byte for byte."""
    return _all_digests(folder) == _all_digests(other)


def is_free(target: Path) -> bool:
    """Return whether there is nothing at `target`, or an empty folder."""
    return not target.exists() or (target.is_dir() and not any(target.iterdir()))


def publish(folder: Path, target: Path, *, is_private: bool = False) -> None:
    """Move the finished folder to its place at once; raises ActionError if it is taken."""
    folder.chmod(0o700 if is_private else 0o755)
    try:
        # An empty folder in the way is replaced; one with files in it makes the call fail.
        os.replace(folder, target)
    except OSError:
        raise ActionError(f"{target}: it holds something else; name another --out.") from None


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(READ_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _all_digests(folder: Path) -> dict[str, str]:
    return {name: sha256_of(folder / name) for name in _names(folder)}


def _names(folder: Path) -> list[str]:
    """Return the names of all files, those in folders with their folder before them."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(found)


class _Outbox(io.RawIOBase):
    """What a ZIP is written to: it cannot seek, and forgets what was taken out of it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | memoryview") -> int:  # type: ignore[override]
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return all that was written since the last time."""
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def zipped(folder: Path, names: Iterable[str], top: str) -> Iterator[bytes]:
    """Yield the ZIP of these files of a folder in pieces, under one folder named `top`.

    The same files give the same bytes, on whatever day. No file is held in memory.
    """
    outbox = _Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(f"{top}/{name}", FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            path = folder / name
            entry.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(entry, "w") as target:
                while piece := source.read(PIECE_BYTES):
                    target.write(piece)
                    yield outbox.take()
    yield outbox.take()


def files_of(release: Release, folder: Path) -> list[str]:
    """Return the names of the release's files; raises ActionError unless they are as released."""
    for name, entry in release.manifest.items():
        path = folder / name
        if not path.is_file() or sha256_of(path) != entry["sha256"]:
            raise ActionError(
                f"{path} is not as it was released: put it back, as its checksum tells, and run it "
                "again."
            )
    return sorted({*release.manifest, *([SUMS] if (folder / SUMS).is_file() else [])})


def top_of(release: Release) -> str:
    """Return the name of the one folder in the release's ZIP."""
    return f"{release.collection.slug}-{release.number}"


def write_zip(release: Release, folder: Path) -> Path:
    """Return the ZIP of the release in `folder`, beside it; equal releases have equal bytes.

    Raises ActionError for files that are not as released, or something else in its place.
    """
    names = files_of(release, folder)
    target = folder.with_name(f"{folder.name}.zip")
    with beside(target) as space:
        made = space / target.name
        with made.open("wb") as file:
            file.writelines(zipped(folder, names, top_of(release)))
        if target.exists() and (not target.is_file() or sha256_of(target) != sha256_of(made)):
            raise ActionError(f"{target}: it is something else; move it away and run it again.")
        made.chmod(0o644)
        os.replace(made, target)
    return target


def push_to_hub(release: Release, folder: Path, name: str, *, is_public: bool = False) -> str:
    """Put the release's files, and no others, into a dataset of the hub; return its address.

    What another release of the collection had and this one has not is taken away there, though the
    hub's history keeps it. A new dataset is private unless `is_public`; one that others see is
    written to only then, and one that is private only without. The token is read from the
    environment. Raises ActionError in one line.
    """
    try:
        # Only those who push need it.
        hub = importlib.import_module("huggingface_hub")
    except ImportError:
        raise ActionError(INSTALL) from None
    token = os.environ.get(TOKEN, "")
    if not token:
        raise ActionError(f"Set {TOKEN} in the environment to a token of the hub that can write.")
    names = files_of(release, folder)
    issued = Release.objects.filter(collection=release.collection)
    had = {file for manifest in issued.values_list("manifest", flat=True) for file in manifest}
    api = hub.HfApi(endpoint=os.environ.get(ENDPOINT) or None, token=token)
    try:
        api.create_repo(name, repo_type="dataset", private=not is_public, exist_ok=True)
        there = api.repo_info(name, repo_type="dataset")
        if not there.private and not is_public:
            raise ActionError(
                f"{name} can be seen by everybody: give --public to publish there, or another name."
            )
        if there.private and is_public:
            raise ActionError(
                f"{name} is private on the hub: make it public there first, or leave out --public."
            )
        found = {file.rfilename for file in there.siblings or ()}
        api.create_commit(
            name,
            repo_type="dataset",
            operations=[
                *(
                    hub.CommitOperationAdd(path_in_repo=file, path_or_fileobj=folder / file)
                    for file in names
                ),
                # Of other releases, older or newer.
                *(
                    hub.CommitOperationDelete(path_in_repo=file)
                    for file in sorted(had & found - set(names))
                ),
            ],
            commit_message=f"Release {release.number} of {release.collection.slug}",
        )
    except ActionError:
        raise
    except Exception as error:
        told = (" ".join(str(error).split()) or type(error).__name__).replace(token, "…")
        told = told[:300].rstrip(". ")
        raise ActionError(f"The hub has not taken it all: {told}. {AGAIN}") from None
    return f"{api.endpoint}/datasets/{name}"
