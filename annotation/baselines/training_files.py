"""What may be learned from: never a file with answers that a protocol withholds."""

import mmap
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from annotation.metrics.result import read_file
from annotation.protocols.contracts import EXPORT
from annotation.release.dataset_card import FILE as CARD
from annotation.release.release_files import PRIVATE_CARD
from annotation.release.release_folder import sha256_of
from collector.protocols.loading import Protocol
from readers.trained import ReaderError

TEST = "test"
# Ids stand in official files as strings by themselves.
ID = re.compile(rb'"([^"\\\s]{8,80})"')
# What the official layouts call the id of a question.
QUESTION_ID = re.compile(rb'"(?:_id|id|qid|query_id)"\s*:\s*"([^"\\]+)"')


def check_training(protocol: Protocol, train: Iterable[Path], dev: Path) -> None:
    """Raise ReaderError, in one line, unless these files may be learned from and measured on.

    Refused are official files of test splits, whatever lies in the private part of a release, and
    files with a question of a split whose answers are withheld, as far as files of such a split
    lie beside one of these.
    """
    files = list(train)
    for path in (*files, dev):
        check_readable(path)
        if is_private(path.resolve().parent):
            raise ReaderError(
                f"{path}: the answers in this folder are withheld, so nothing is trained or "
                "chosen by them; score predictions with it instead."
            )
    for path in files:
        if TEST in words_of(path):
            raise ReaderError(
                f"{path}: by its name it tests systems, so none is trained on it; give a training "
                "file."
            )
    if not protocol.has(EXPORT) or not protocol.part(EXPORT).WITHHELD:
        return
    kept_back = set(_withheld_ids(protocol, {path.resolve().parent for path in (*files, dev)}))
    for path in files if kept_back else ():
        found = next((one for one in _matches(ID, path) if one in kept_back), None)
        if found is not None:
            raise ReaderError(
                f"{path}: question {found.decode()} is of a test split, whose answers are "
                "withheld; give a training file without it."
            )


def check_apart(train: Iterable[Path], dev: Path) -> None:
    """Raise ReaderError, in one line, where a question of dev stands in a training file too."""
    files = list(train)
    content = sha256_of(dev)
    same = next((path for path in files if sha256_of(path) == content), None)
    if same is not None:
        raise ReaderError(
            f"{same}: it is the file that --dev measures on, so what is learned by heart would "
            "count as right; give another one to learn from."
        )
    asked = set(_matches(QUESTION_ID, dev))
    for path in files if asked else ():
        found = next((one for one in _matches(QUESTION_ID, path) if one in asked), None)
        if found is not None:
            raise ReaderError(
                f"{path}: question {found.decode(errors='replace')} stands in {dev} too, so what "
                "is learned by heart would count as right; give files that share none."
            )


def is_private(folder: Path) -> bool:
    """Return whether the folder holds what a release withholds."""
    card = folder / CARD
    first = PRIVATE_CARD.partition("\n")[0]
    try:
        with card.open(encoding="utf-8", errors="replace") as file:
            return file.readline().strip() == first
    except OSError:
        return False


def words_of(path: Path) -> set[str]:
    """Return the words of a file's name."""
    return set(re.split(r"[\W_]+", path.name.lower()))


def check_readable(path: Path) -> None:
    """Raise ReaderError, in one line, unless there is something in the file."""
    try:
        with path.open("rb") as file:
            begin = file.read(1)
    except FileNotFoundError:
        raise ReaderError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        raise ReaderError(f"{path}: it cannot be read ({error.strerror}); give a file.") from None
    if not begin:
        raise ReaderError(f"{path}: it is empty; give one with questions and answers.")


def _withheld_ids(protocol: Protocol, folders: Iterable[Path]) -> Iterator[bytes]:
    """Yield the ids of the questions in files of test splits that lie in these folders."""
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            if TEST in words_of(path):
                yield from _ids_of_questions(protocol, {path.name: read_file(path)})


def _ids_of_questions(protocol: Protocol, files: Mapping[str, bytes]) -> Iterator[bytes]:
    export = protocol.part(EXPORT)
    try:
        for seed in export.published(files).seeds:
            for question in seed["questions"]:
                if question["split"] in export.WITHHELD:
                    yield question["id"].encode()
    except ValueError:
        # It is no official file, whatever it is called.
        return


def _matches(pattern: re.Pattern[bytes], path: Path) -> Iterator[bytes]:
    """Yield what the pattern finds in a file, without reading the file into memory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in pattern.finditer(content):
            yield match[1]
