"""Files that those who died have left, half-written or sent: found and removed."""

from itertools import chain
from pathlib import Path

from django.conf import settings

from annotation.claimed_folders import leftovers, remove_leftovers
from annotation.release.release_folder import left_behind
from collector.ingest.documents.uploads import remove_files, unneeded_files


def half_written() -> list[str]:
    """Return the folders of releases, rehearsals, folds and uploads that nobody is at any more."""
    left = chain.from_iterable(map(left_behind, _bases()))
    return [str(path) for path in [*left, *leftovers(), *unneeded_files()]]


def remove_half_written() -> None:
    """Remove them, and what they brought into place: nobody has been told of any."""
    for base in _bases():
        if any(left_behind(base)):
            # A process of the jobs starts without it.
            from annotation.release.publish_release import reconcile

            reconcile(base)
    remove_leftovers()
    remove_files()


def _bases() -> set[Path]:
    return {Path(settings.RELEASES), settings.HOME / "releases", settings.RANKINGS}
