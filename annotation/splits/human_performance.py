"""Has a sample of kept questions answered once more (human performance), or labelled."""

import random

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.decisions.verdicts import is_decided
from annotation.splits.kept_questions import kept_questions
from collector.models import Collection, Stage, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from tasks.models import Question
from tasks.work.units import add_unit, is_over


def sample_questions(collection: Collection) -> int:
    """Make the units of every stage that takes up decided questions; returns how many.

    The sample is drawn once, by the collection's seed, when nothing more comes of the stages it
    reads and their votes are decided on; nobody who voted on a question can take it, since nobody
    answers one question twice.
    """
    parameters = parameters_of(collection)
    made = 0
    for name, table in parameters.stages().items():
        if not table.sample_questions:
            continue
        with transaction.atomic():
            stage = Stage.objects.select_for_update(no_key=True).get(
                collection=collection, name=name
            )
            if stage.state == StageState.OPEN and not stage.units.exists():
                made += _make_units(stage, table)
    return made


def sampled_questions(collection: Collection, table: StageTable) -> QuerySet[Question]:
    """Return the kept questions placed in, or yet planned for, the splits that a stage samples."""
    return kept_questions(collection).filter(
        Q(split_assignment__split__in=table.sample_splits)
        | Q(split_assignment=None, seed__fold__in=table.sample_splits)
    )


def _make_units(stage: Stage, table: StageTable) -> int:
    """Make units of a sample of what is kept; returns how many."""
    collection = stage.collection
    parameters = parameters_of(collection)
    stages = parameters.stages()
    sources = {table.items_from, stages[table.items_from].items_from} - {"seeds"}
    rows = collection.stages.select_related("collection").filter(name__in=sources)
    over = all(is_over(row, parameters) for row in rows)
    # A question that waits for votes of a closed stage waits for nothing.
    if not over or not is_decided(collection):
        return 0
    kept = list(sampled_questions(collection, table))
    random.Random(f"{collection.random_seed}:second reading").shuffle(kept)
    sample, per_unit = kept[: table.sample_questions], table.items_per_hit
    for start in range(0, len(sample), per_unit):
        add_unit(stage, table, sample[start : start + per_unit], table.redundancy.of("test"))
    return (len(sample) + per_unit - 1) // per_unit
