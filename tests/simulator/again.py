"""A release made again from its private log, in other databases: byte for byte the same."""

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.simulator.machine import TIME

if TYPE_CHECKING:
    from tests.simulator.life import Life


def different(life: "Life") -> str:
    """Return which files of a release made again differ, or why there is none; "" for nothing.

    Left out is a collection whose people have withdrawn: it is kept in no log.
    """
    from annotation.release.log import LogError
    from annotation.release.publish_release import publish_release
    from common.actions import ActionError

    # Late work of tests makes a log of dialogs that is not replayed in every order yet.
    if life.databases is None or life.protocol == "quac":
        return ""
    folder = life.home / f"again_{os.getpid()}"
    log = folder / "private.jsonl"
    try:
        publish_release(life.collection, folder / "first", TIME.now(), log=log)
    except (ActionError, LogError):
        return ""
    life.seen["a release made again"] += 1
    return _in_other_databases(life, log, folder / "second")


def _in_other_databases(life: "Life", log: Path, out: Path) -> str:
    from django.db import connections

    # A connection that two processes hold ends for both once one of them closes it.
    connections.close_all()
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        told = "the replay itself failed"
        try:
            told = _remade(life, log, out)
        except Exception as error:
            told = f"a replay ended: {error!r}"
        finally:
            with os.fdopen(writing, "wb") as file:
                pickle.dump(told, file)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        found: str = pickle.load(file)
    os.waitpid(pid, 0)
    return found


def _remade(life: "Life", log: Path, out: Path) -> str:
    import httpx
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.test.client import ClientHandler

    from annotation.replay import recreation
    from annotation.replay.read_log import read_log
    from annotation.replay.remake_release import remake
    from collector.models import Corpus
    from marketplace.tests.boto import ENDPOINT
    from tasks.crowd import requester_api
    from tests.simulator import worlds
    from tests.simulator.processes import SERVE

    # One process does it all.
    ClientHandler.__call__ = SERVE  # type: ignore[method-assign]
    settings.MARKETPLACE_URL = ENDPOINT
    requester_api._client = lambda *_: worlds.wire(settings.MTURK_KEYS_FILE)  # type: ignore[assignment]
    real = recreation.candidates_of

    def candidates(collection: Any, given: Any) -> Iterator[Any]:
        # The seeds that a life begins with are among those that could be chosen.
        yield from (seed for seed, *_ in worlds.chosen_seeds(collection, [""] * 9))
        yield from real(collection, given)

    recreation.candidates_of = candidates
    name = f"again_{os.getpid()}"
    assert life.databases
    life.databases.make(name, template="template")
    life.databases.use(name)
    try:
        read = read_log(log)
        corpus = Corpus.objects.get(slug=read.collection.corpus)
        transport = httpx.WSGITransport(get_wsgi_application())
        return ", ".join(
            remake(read, corpus, out, TIME.now(), lambda: TIME.advance(1), transport).different
        )
    finally:
        life.databases.use("none")
        life.databases.drop(name)
