"""A collection of dialogs of which some are left by their partners, and its replay.

These functions run on the databases of a served instance.
"""

from pathlib import Path

from django.core.management import call_command

from tests.replaying import read_in

SLUG = "talks"
# Small HITs and short dialogs: a small crowd comes to the end of them, and has talked of all.
SMALL = [
    "pay.approve_after_hours=0",
    "seeds.category_keywords=[]",
    "seeds.persons_by=anything",
    "seeds.min_incoming_links=0",
    "seeds.min_tokens=80",
    "splits={ train = 3, dev = 1, test = 1 }",
    "student_qualification.items_per_hit=1",
    "teacher_qualification.items_per_hit=1",
    "dialog.redundancy={ train = 2, dev = 1, test = 1 }",
    "dialog.min_pairs=2",
    "dialog.max_questions=3",
    "validation.redundancy={ train = 0, dev = 2, test = 2 }",
]


def collect(out: str, log: str) -> None:
    """Let people talk who leave their partners now and then, and people who do not; release."""
    read_in()
    create = {"protocol": "quac", "corpus": "read", "budget": 600.0, "seed": 5, "set": SMALL}
    call_command("create_collection", SLUG, **create)
    call_command("select_seeds", SLUG, count=5)
    call_command("publish", SLUG)
    leavers = {"workers": 4, "behaviour": "leaver"}
    call_command("simulate", SLUG, **leavers, inspect=True, seed=5)
    call_command("simulate", SLUG, workers=6, inspect=True, seed=6)
    call_command("validate_answers", SLUG)
    call_command("make_splits", SLUG)
    call_command("export_dataset", SLUG, out=Path(out), log=Path(log))


def replay(out: str, log: str) -> None:
    """Do it again; the log of that is kept beside the first."""
    read_in()
    call_command("replay_log", log, out=Path(out))
    call_command("export_dataset", SLUG, out=Path(f"{out} again"), log=Path(f"{log}.again"))
