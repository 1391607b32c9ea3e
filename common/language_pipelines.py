"""spaCy's blank pipelines: sentences and tokens by a language's rules, without a model."""

import importlib
import sys
from functools import lru_cache
from threading import Lock
from types import ModuleType
from typing import Any

_building = Lock()
_importing = Lock()


def spacy_library() -> ModuleType:
    """Return spaCy, which takes torch along where that is installed unless it is told not to.

    Of what we use nothing needs torch, and it would treble the memory of each process.
    """
    with _importing:
        if "spacy" in sys.modules or "torch" in sys.modules:
            return importlib.import_module("spacy")
        # None says to `import` that there is none such.
        sys.modules["torch"] = None  # type: ignore[assignment]
        try:
            return importlib.import_module("spacy")
        finally:
            del sys.modules["torch"]


def pipeline(language: str) -> Any:
    """Return the blank pipeline of a language, or the one for many languages."""
    # Several threads of a new process want it at once, and building it takes long.
    with _building:
        return _pipeline(language)


@lru_cache(maxsize=8)
def _pipeline(language: str) -> Any:
    spacy = spacy_library()
    try:
        pipeline = spacy.blank(language.partition("-")[0])
    except ImportError:
        pipeline = spacy.blank("xx")
    pipeline.add_pipe("sentencizer")
    # Long articles are cut paragraph by paragraph, so the library's guard is not needed.
    pipeline.max_length = 10_000_000
    return pipeline
