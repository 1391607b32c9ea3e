"""Whatever is changed in an official file or a result, it is read or refused in a line."""

import json
import random
from collections.abc import Callable
from functools import partial
from io import StringIO
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.mturk_import.tests.batches import batch_csv, labels_dump, texts
from collector.ingest.tests.fuzzing import changed
from collector.models import Collection, Corpus
from collector.protocols.loading import Protocol, all_protocols

N_CHANGED = 60
READ = (".json", ".jsonl", ".csv")
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    float("nan"),
    "",
    "\ud800",
    "\x00",
    [],
    {},
    [[]],
    [1, 2],
)
pytestmark = [pytest.mark.once, pytest.mark.django_db]


def with_odd_values(value: Any, rng: random.Random) -> Any:
    """Return a value of JSON with one that it holds replaced, left out or doubled."""
    if not value or not isinstance(value, dict | list) or rng.random() < 0.1:
        return rng.choice(ODD)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = rng.choice(keys)
    copied = value.copy()
    if rng.random() < 0.1:
        del copied[key]
    elif isinstance(copied, list) and rng.random() < 0.1:
        copied.append(value[key])
    else:
        copied[key] = with_odd_values(value[key], rng)
    return copied


def written(name: str, value: Any) -> bytes:
    """Return a file of a sample: its text, or its JSON, of lines where it is of such."""
    if isinstance(value, str):
        return value.encode()
    lines = value if name.endswith("jsonl") else [value]
    return "\n".join(map(json.dumps, lines)).encode()


def check_command(run: Callable[..., Any], contents: dict[Path, bytes], rng: random.Random) -> int:
    """Run a command on its files, one of them changed, each time anew; return how often it read."""
    n_read = 0
    for _ in range(N_CHANGED):
        path = rng.choice(sorted(contents))
        content = changed(contents[path], contents[path], rng)
        if path.suffix == ".json" and rng.random() < 0.7:
            content = json.dumps(with_odd_values(json.loads(contents[path]), rng)).encode()
        for each, original in contents.items():
            each.write_bytes(content if each == path else original)
        refused = ""
        try:
            with transaction.atomic():
                run(stdout=StringIO())
                n_read += 1
                transaction.set_rollback(True)
        except CommandError as error:
            refused = str(error)
        assert "\n" not in refused
        assert not Corpus.objects.exists()
        assert not Collection.objects.exists()
    return n_read


@pytest.mark.parametrize("protocol", all_protocols(), ids=attrgetter("name"))
def test_changed_official_files_are_read_or_refused(protocol: Protocol, tmp_path: Path) -> None:
    sample = json.loads((protocol.folder / "sample.json").read_text("utf-8"))
    contents = {tmp_path / name: written(name, value) for name, value in sample.items()}
    contents = {path: content for path, content in contents.items() if path.suffix in READ}
    run = partial(call_command, "import_dataset", "read", *contents, protocol=protocol.name)
    assert check_command(run, contents, random.Random(7))


def test_changed_results_are_read_or_refused(tmp_path: Path, settings: Any) -> None:
    root = Path(__file__).resolve().parents[3]
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, root / "tests" / "protocols"]
    options = {"protocol": "headline", "corpus": "old", "stage": "text", "apply": True}
    told, rng = tmp_path / "texts.csv", random.Random(7)
    run = partial(call_command, "import_results", "old", told, **options)
    assert check_command(run, {told: batch_csv(texts())}, rng)
    dump, shown = labels_dump()
    files = {tmp_path / "labels.json": dump, tmp_path / "shown.csv": shown}
    options |= {"stage": "label", "inputs": [tmp_path / "shown.csv"]}
    run = partial(call_command, "import_results", "old", tmp_path / "labels.json", **options)
    assert check_command(run, files, rng)
