"""Asks once more for work that was left out of a dataset, where something waits for it."""

from django.db.models import Exists, F, OuterRef, Q

from annotation.agreement.decision import Outcome
from annotation.decisions.verdicts import voting_stages
from collector.models import Collection, StageState
from collector.protocols.creation import parameters_of
from tasks.models import Submission, UnitItem
from tasks.work.units import left_out, made_by, replace_work, take_back_replacement


def replace_left_out(collection: Collection) -> int:
    """Open a place for each piece of work that counts no more; returns how many have changed.

    That of a vote where a question of its HIT is not decided and nobody else is asked; that of
    questions and of a second reading in any case. Each is replaced once, in open stages; where
    its worker counts again, the new place goes unless somebody has taken it.
    """
    parameters = parameters_of(collection)
    asking = voting_stages(parameters)
    voting = {name for names in asking.values() for name in names} - {*asking}
    read = [name for name, table in parameters.stages().items() if table.sample_questions]
    items = UnitItem.objects.filter(unit=OuterRef("lease__unit"))
    undecided = Q(question__verdict=None) | Q(question__verdict__outcome=Outcome.WAITING)
    out = left_out(collection.pk)
    waits = Q(
        Exists(items.filter(undecided).exclude(made_by(out, "question__"))),
        lease__unit__submitted__gte=F("lease__unit__redundancy"),
        lease__unit__stage__name__in=voting,
    )
    # A ticket for dialogs has no items: those are paired anew by their topics alone.
    wrote = Q(Exists(items), questions__isnull=False, lease__unit__stage__name__in=asking)
    handed_in = Submission.objects.filter(lease__unit__stage__collection=collection)
    back = handed_in.filter(replaced=True).exclude(lease__worker__in=out)
    works = handed_in.filter(
        waits | wrote | Q(lease__unit__stage__name__in=read),
        counts=True,
        replaced=False,
        lease__worker__in=out,
        lease__unit__closed=False,
        lease__unit__stage__state=StageState.OPEN,
    )
    changed = sum(take_back_replacement(pk) for pk in list(back.values_list("pk", flat=True)))
    return changed + sum(replace_work(pk) for pk in set(works.values_list("pk", flat=True)))
