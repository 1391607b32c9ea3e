"""Has new annotators answer a sample of kept test questions once more (human performance)."""

import random

from django.db import transaction

from collector.creation import parameters_of
from collector.models import Collection, Stage, StageState
from tasks.models import Question
from tasks.units import create_unit


def sample_questions(collection: Collection) -> int:
    """Make the units of every stage that re-reads decided questions; returns how many.

    The sample is drawn once, by the collection's seed, when the stage it reads has decided all;
    nobody who voted on a question can take it, since nobody answers one question twice.
    """
    parameters = parameters_of(collection)
    made = 0
    for name, table in parameters.stages().items():
        wanted = getattr(table, "sample_questions", 0)
        if not wanted:
            continue
        with transaction.atomic():
            stage = Stage.objects.select_for_update().get(collection=collection, name=name)
            if stage.state == StageState.OPEN and not stage.units.exists():
                made += _make_units(stage, wanted, table.items_per_hit)
    return made


def _make_units(stage: Stage, wanted: int, per_unit: int) -> int:
    asked = Question.objects.filter(stage__collection=stage.collection, seed__fold="test")
    undecided = asked.exclude(verdict__outcome__in=["kept", "dropped"])
    kept = list(asked.filter(verdict__outcome="kept").order_by("key"))
    if undecided.exclude(stage__units__isnull=True).exists() or not kept:
        return 0
    random.Random(f"{stage.collection.seed}:second reading").shuffle(kept)
    sample = kept[:wanted]
    for start in range(0, len(sample), per_unit):
        create_unit(stage, sample[start : start + per_unit], 1)
    return (len(sample) + per_unit - 1) // per_unit
