"""Lets simulated workers do a collection's HITs through the real pages."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from collector.lookup import collection_named
from collector.models import Collection, CollectionState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError, get_protocol
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand, processes, seed, whole
from tasks.crowd.requester_api import MarketplaceError
from tasks.people.audience import groups_needed
from tasks.simulation import crowd as simulation_crowd
from tasks.simulation.behaviour import BEHAVIOURS, MIXED
from tasks.simulation.browser import StuckError, UnreachableError, check_reachable
from tasks.simulation.crowd import Crowd, Result
from tasks.simulation.recruiting import real_work, recruit
from tasks.simulation.replay_collection import stage_replay

REFUSALS = (
    *(StuckError, UnreachableError, MarketplaceError, ActionError),
    *(ProtocolError, ActionError, ValueError),
)


class Command(ResultCommand):
    """simulate NAME --workers N."""

    help = (
        "Let simulated workers take and do HITs of a collection in the marketplace's real pages, "
        "until nothing is left for them. All they make is marked as synthetic.\n\n"
        "Example:\n"
        f"  {MANAGE} simulate pilot --workers 20 --inspect\n"
        f"  {MANAGE} simulate again --protocol PROTOCOL --replay official_dev.json"
    )

    refusals = REFUSALS

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the collection")
        parser.add_argument("--workers", type=whole(1, 100_000), default=20)
        parser.add_argument("--behaviour", choices=[*BEHAVIOURS, MIXED], default=MIXED)
        parser.add_argument("--seed", type=seed, default=0, help="the same seed, the same workers")
        parser.add_argument("--threads", type=processes, default=4, help="workers at work at once")
        parser.add_argument("--stage", default="", help="only HITs of this stage")
        parser.add_argument(
            "--inspect", action="store_true", help="grant or decline what they do to qualify"
        )
        parser.add_argument("--replay", type=Path, help="file of real work to type where it fits")
        parser.add_argument(
            "--protocol", default="", help="with --replay: make the collection for the file"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Run the crowd, or say in one line why not."""
        if options["workers"] < 1 or options["threads"] < 1:
            raise CommandError("Give one worker and one thread at least.")
        # Nothing is written before somebody is at home.
        check_reachable()
        collection, replay = self._prepared(options)
        crowd = recruit(
            collection,
            options["workers"],
            behaviour=options["behaviour"],
            seed=options["seed"],
            threads=options["threads"],
            stage=options["stage"],
            inspect=options["inspect"],
            replay=replay,
        )
        result = self._run(crowd, quiet=options["json"])
        left = simulation_crowd.places_left(collection)
        value = {
            "collection": collection.slug,
            "workers": result.n_workers,
            "hits": dict(result.hits),
            **dict(sorted(result.counts.items())),
            "places_left": left,
            "seconds": round(result.seconds, 1),
        }
        return value, lines_of(collection, result, left)

    def _prepared(self, options: dict[str, Any]) -> tuple[Collection, Any]:
        path, protocol = options["replay"], options["protocol"]
        if protocol and not path:
            raise CommandError("--protocol goes with --replay; else create_collection comes first.")
        if protocol and not Collection.objects.filter(slug=options["name"]).exists():
            replay = real_work(protocol, path)
            collection = stage_replay(
                options["name"],
                get_protocol(protocol),
                replay,
                path.name,
                seed=options["seed"],
                now=timezone.now(),
            )
            return collection, replay
        collection = collection_named(options["name"])
        known = list(collection.stages.values_list("name", flat=True))
        if options["stage"] and options["stage"] not in known:
            raise CommandError(f"There is no stage {options['stage']!r}. Known: {known}.")
        if collection.state != CollectionState.COLLECTING:
            raise CommandError(_closed(collection))
        if needed := groups_needed(collection, options["stage"]):
            raise CommandError(_limited(collection, needed))
        return collection, real_work(collection.protocol, path) if path else None

    def _run(self, crowd: Crowd, *, quiet: bool) -> Result:
        if quiet or not self.stdout.isatty():
            return crowd.run()
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            line = bar.add_task("Workers sign in …", total=None)
            return crowd.run(lambda result: bar.update(line, description=_done(result)))


def lines_of(collection: Collection, result: Result, left: dict[str, int]) -> Iterator[str]:
    """Yield what the workers did, and why they left what is left."""
    counts = result.counts
    yield f"{_done(result)}, in {result.seconds:.0f} s."
    if counts["qualified"] or counts["declined"]:
        yield f"Qualified: {counts['qualified']}, declined: {counts['declined']}."
    if left:
        places = ", ".join(f"{number} of {name}" for name, number in left.items())
        yield f"Assignments that none of them could take: {places}."
        with suppress(MarketplaceError):
            if needed := {name for stage in left for name in groups_needed(collection, stage)}:
                yield _limited(collection, sorted(needed))
    if result.waiting:
        yield f"Still waiting for the jobs: {result.waiting}. Do they run?"


def _closed(collection: Collection) -> str:
    """Return why nobody can work on a collection, and which command changes that."""
    if collection.state == CollectionState.FINISHED:
        return (
            "The collection is finished: nobody gets work. Reopen it first: "
            f"{MANAGE} finish_collection {collection.slug} --reopen"
        )
    return f"It is not open to workers: {MANAGE} publish {collection.slug}"


def _limited(collection: Collection, needed: Sequence[str]) -> str:
    """Return that simulated workers see no HIT for these groups, and what to do instead."""
    posted = set(needed) != set(parameters_of(collection).people.groups)
    up = " that are up (they stay as they were posted)" if posted else ""
    return (
        f"Only members of {' and '.join(needed)} see its HITs{up}, and simulated workers are "
        f"in no group. Rehearse it: {MANAGE} rehearse {collection.slug}"
    )


def _done(result: Result) -> str:
    """Return what has been done so far as one line."""
    stages = ", ".join(f"{number} of {stage}" for stage, number in result.hits.items())
    total = sum(result.hits.values())
    return f"{result.n_workers} simulated workers did {total} HITs" + (
        f" ({stages})" if stages else ""
    )
