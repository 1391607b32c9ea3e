"""How many were let in whatever the qualification test says, beside those who passed it."""

from django.db.models import Count, Q

from annotation.tables.table import Table
from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.models import Grant, GrantState, Submission
from tasks.people.qualifications import trusted_grants
from tasks.work.kinds.hit_words import title_of

LET_IN = Q(is_let_in=True)


def let_in_tables(collection: Collection) -> list[Table]:
    """Return who passed and who was let in, by qualification; none where nobody was let in."""
    if not trusted_grants(collection).exists():
        return []
    granted = Q(state=GrantState.GRANTED)
    rows = (
        Grant.objects.filter(qualification__stage__collection=collection)
        .values("qualification__stage__name")
        .annotate(
            handed_in=Count("submitted_at"),
            passed=Count("pk", filter=~LET_IN & granted),
            let_in=Count("pk", filter=LET_IN & granted),
            back=Count("pk", filter=LET_IN & ~granted),
        )
        .order_by("qualification__stage__position")
    )
    tables = parameters_of(collection).stages()
    return [
        Table(
            "let_in",
            "Passed and let in without passing",
            ["qualification", "handed in", "passed", "let in without passing", "taken back"],
            [
                [
                    title_of(tables[row["qualification__stage__name"]]),
                    *(row[name] for name in ("handed_in", "passed", "let_in", "back")),
                ]
                for row in rows
            ],
        )
    ]


def makers_let_in(collection: Collection) -> tuple[int, int]:
    """Return how many people's work counts, and how many of them were let in without passing."""
    tables = parameters_of(collection).stages()
    work = Submission.objects.filter(
        lease__unit__stage__collection=collection,
        lease__unit__stage__name__in=[name for name, one in tables.items() if not one.qualifies],
        counts=True,
    )
    makers = set(work.values_list("lease__worker", flat=True).distinct())
    trusted = set(trusted_grants(collection).values_list("worker", flat=True))
    return len(makers), len(makers & trusted)
