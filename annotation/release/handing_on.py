"""Hands a release on whole: as one ZIP, or to a hub of datasets; never what lies beside it."""

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.models import Release
from annotation.release.release_folder import SUMS, beside, sha256_of, zipped
from common.actions import ActionError

INSTALL = (
    "Putting a release on the hub needs huggingface_hub, which is not installed: make setup-hub."
)
TOKEN = "HF_TOKEN"
ENDPOINT = "HF_ENDPOINT"
AGAIN = "Run it again: what the hub has already is not sent twice."


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
    hub = _library()
    token = os.environ.get(TOKEN, "")
    if not token:
        raise ActionError(f"Set {TOKEN} in the environment to a token of the hub that can write.")
    names = files_of(release, folder)
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
            operations=[*_operations(hub, release, folder, names, found)],
            commit_message=f"Release {release.number} of {release.collection.slug}",
        )
    except ActionError:
        raise
    except Exception as error:
        raise ActionError(f"The hub has not taken it all: {_line(error, token)} {AGAIN}") from None
    return f"{api.endpoint}/datasets/{name}"


def _library() -> Any:
    """Return huggingface_hub, which only those who push need; raises ActionError without it."""
    try:
        return importlib.import_module("huggingface_hub")
    except ImportError:
        raise ActionError(INSTALL) from None


def _operations(
    hub: Any, release: Release, folder: Path, names: list[str], found: set[str]
) -> Iterator[Any]:
    """Yield what to add, and what to take away of other releases, older or newer."""
    for name in names:
        yield hub.CommitOperationAdd(path_in_repo=name, path_or_fileobj=folder / name)
    issued = Release.objects.filter(collection=release.collection)
    had = {name for manifest in issued.values_list("manifest", flat=True) for name in manifest}
    for name in sorted(had & found - set(names)):
        yield hub.CommitOperationDelete(path_in_repo=name)


def _line(error: Exception, token: str) -> str:
    """Return what went wrong on one line, without the token."""
    told = " ".join(str(error).split()) or type(error).__name__
    return told.replace(token, "…")[:300].rstrip(". ") + "."
