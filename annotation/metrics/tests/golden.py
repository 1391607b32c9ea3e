"""The folder of golden vectors beside the real data; tests skip where it is not at hand."""

import json
import os
from pathlib import Path
from typing import Any

import pytest


def vectors(name: str) -> Any:
    """Return the parsed vectors file `name`; skips the calling test when there is none."""
    data = os.environ.get("COLLECTOR_DATA")
    if not data:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    path = Path(data).parent / "vectors" / name
    if not path.exists():
        pytest.skip(f"{path} is missing: the golden vectors lie beside COLLECTOR_DATA.")
    return json.loads(path.read_text("utf-8"))
