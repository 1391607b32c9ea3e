"""What rankers of a corpus are trained with, kept for the releases of collections over it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from annotation.protocols.contracts import RANKERS
from annotation.release import release_folder
from collector.models import Collection, Corpus
from collector.protocols.loading import Protocol, get_protocol
from common.safe_files import inside

PIECE_BYTES = 1 << 20


def kept_folder(protocol: str, corpus: Corpus) -> Path:
    """Return where the files of a corpus are kept, whether there are any or not."""
    return inside(Path(settings.RANKINGS), f"{protocol}-{corpus.slug}")


@contextmanager
def kept_anew(protocol: Protocol, corpus: Corpus) -> Iterator[Path]:
    """Yield a path for a new folder that takes the place of what was kept, all or nothing.

    Raises OSError where nothing can be written.
    """
    target = kept_folder(protocol.name, corpus)
    with release_folder.folder_beside(target) as space:
        made = space / "made"
        yield made
        if target.exists():
            target.rename(space / "before")
        made.rename(target)


def copy_rankings(collection: Collection, folder: Path) -> dict[str, str]:
    """Copy the files that were kept of the collection's corpus; return what each holds."""
    protocol = get_protocol(collection.protocol)
    if not protocol.has(RANKERS):
        return {}
    kept = kept_folder(protocol.name, collection.corpus)
    found = {
        name: words
        for name, words in protocol.part(RANKERS).FILES.items()
        if (kept / name).is_file()
    }
    for name in found:
        release_folder.put(folder, name, _pieces(kept / name))
    return found


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
