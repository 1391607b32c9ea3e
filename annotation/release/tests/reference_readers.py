"""What others read releases with: Croissant's validator, the hub's parser, `datasets`."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

Rows = list[dict[str, Any]]


def read_release(folder: Path, cache: Path) -> dict[str, Rows]:
    """Return the questions by split as `datasets` loads them, and what all others say equals it.

    Nothing is asked of a network, and nobody warns of anything. cache: a new folder.
    """
    with _in_silence(), patch("socket.socket.connect", side_effect=AssertionError("a network")):
        _check_card(folder / "README.md")
        rows = _loaded(folder, cache)
        described = _described(folder / "croissant.json")
    assert {split: len(each) for split, each in rows.items()} == described
    return rows


def _loaded(folder: Path, cache: Path) -> dict[str, Rows]:
    import datasets

    datasets.disable_progress_bars()
    found = datasets.load_dataset(str(folder), cache_dir=str(cache))
    features = {str(split.features) for split in found.values()}
    assert len(features) == 1
    assert "null" not in features.pop()
    votes = datasets.load_dataset(str(folder), "votes", cache_dir=str(cache))
    assert set(votes) == {"votes"}
    return {name: split.to_list() for name, split in found.items()}


def _described(path: Path) -> dict[str, int]:
    """Return how many records each split has by the metadata, every one of them read."""
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=path)
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    assert dataset.metadata.ctx.is_v1_1()
    splits = [each["splits/name"] for each in dataset.records("splits")]
    names = {split: split.replace("-", "_") for split in splits}
    found = {name: list(dataset.records(name)) for name in names.values()}
    for split, name in names.items():
        assert {each[f"{name}/split"] for each in found[name]} <= {split.encode()}
    return {name: len(records) for name, records in found.items()}


def _check_card(path: Path) -> None:
    from huggingface_hub import DatasetCard

    card = DatasetCard(path.read_text("utf-8"))
    assert card.data.pretty_name
    assert card.data.license
    assert card.data.configs


@contextmanager
def _in_silence() -> Iterator[None]:
    """Fail at the end if anybody has warned or logged a warning."""
    told: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    loggers = [logging.getLogger(), logging.getLogger("absl"), logging.getLogger("datasets")]
    loggers.append(logging.getLogger("huggingface_hub"))
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    told += [str(each.message) for each in caught if each.category is UserWarning]
    assert told == []
