"""Saves and loads the state of a training run, exactly; a file is whole or does not exist."""

import errno
import hashlib
import json
import os
import pickle
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy
import torch
from torch import nn

from readers.trained import ReaderError

READ_BYTES = 1 << 20
State = dict[str, object]


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a new file beside `path` and rename it to `path`, so that nobody finds half a file.

    Raises ReaderError if it cannot be written; then the earlier file stays.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise unwritten(path, error) from error


def unwritten(path: Path, error: OSError) -> ReaderError:
    """Return the error for a file that could not be written; what was trained is kept."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = "the disk is full" if full else error.strerror
    return ReaderError(
        f"{path}: it cannot be written ({why}); what was trained until the last checkpoint is "
        "kept: make room and run the same command again."
    )


def save(path: Path, state: State) -> None:
    """Write a state of tensors and plain values; raises ReaderError as `write_whole` does."""
    write_whole(path, lambda file: torch.save(state, file))


def save_json(path: Path, value: Mapping[str, object]) -> None:
    """Write an object as JSON; raises ReaderError as `write_whole` does."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))


def load(path: Path) -> State:
    """Return a saved state; raises ReaderError for a file that has none.

    Only tensors and plain values are ever loaded from a file.
    """
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ReaderError(f"{path}: it cannot be read ({error.strerror}).") from None
    except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, KeyError):
        raise ReaderError(
            f"{path}: it is no checkpoint, or a broken one; take its folder away, and what it "
            "holds is trained again."
        ) from None
    if not isinstance(state, dict):
        raise ReaderError(f"{path}: it is a file of torch's but no checkpoint of a run.")
    return cast(State, state)


def load_weights(model: nn.Module, weights: Mapping[str, torch.Tensor], where: Path) -> None:
    """Load these weights into the model; raises ReaderError naming the first that does not fit."""
    own = model.state_dict()
    for name in sorted({*own, *weights}):
        if name not in own or name not in weights:
            lacks = "the model here" if name not in own else "it"
            raise ReaderError(
                f"{where}: {lacks} has no {name}: it is of another recipe, encoder or baseline; "
                "name a new --out."
            )
        if own[name].shape != weights[name].shape:
            there, here = (tuple(each[name].shape) for each in (weights, own))
            raise ReaderError(
                f"{where}: {name} is {_size(there)} there and {_size(here)} here: the vocabulary, "
                "the encoder or the recipe is another; name a new --out."
            )
    model.load_state_dict(dict(weights))


def seed_chance(seed: str) -> None:
    """Seed every random generator that a learner may use."""
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
    random.seed(number)
    numpy.random.seed(number)
    torch.manual_seed(number)


def chance() -> State:
    """Return the states of these random generators."""
    name, keys, *rest = numpy.random.get_state(legacy=True)
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {
        "random": random.getstate(),
        "numpy": (name, torch.from_numpy(numpy.asarray(keys).astype("int64")), *rest),
        "torch": torch.get_rng_state(),
        "cuda": cuda,
    }


def set_chance(state: State) -> None:
    """Restore the states that `chance` returned."""
    random.setstate(cast(tuple[object, ...], state["random"]))
    name, keys, *rest = cast(tuple[Any, ...], state["numpy"])
    position, has_gauss, gauss = cast(tuple[int, int, float], tuple(rest))
    numpy.random.set_state((name, keys.numpy().astype("uint32"), position, has_gauss, gauss))
    torch.set_rng_state(cast(torch.Tensor, state["torch"]))
    cuda = cast(list[torch.Tensor], state["cuda"])
    if cuda and len(cuda) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(cuda)


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(str(each) for each in shape) or "one number"


def _sync_folder(folder: Path) -> None:
    """Sync a folder, so that the new name of a file survives a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
