"""The folder of golden vectors beside the real data; tests skip where it is not at hand."""

import json
import os
from pathlib import Path
from typing import Any

import pytest


def vectors(name: str) -> Any:
    """Return the parsed vectors file `name`; skips the calling test when there is none."""
    return json.loads(vectors_path(name).read_text("utf-8"))


def weights(name: str, prefix: str = "") -> dict[str, Any]:
    """Return the arrays of the vectors file `name` whose names begin so, by the rest of them."""
    import numpy

    with numpy.load(vectors_path(name)) as file:
        return {key.removeprefix(prefix): file[key] for key in file.files if key.startswith(prefix)}


def vectors_path(name: str) -> Path:
    """Return where the vectors file `name` is; skips the calling test when there is none."""
    data = os.environ.get("COLLECTOR_DATA")
    if not data:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    path = Path(data).parent / "vectors" / name
    if not path.exists():
        pytest.skip(f"{path} is missing: the golden vectors lie beside COLLECTOR_DATA.")
    return path
