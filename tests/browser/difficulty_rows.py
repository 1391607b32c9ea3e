"""Collections of pairs whose difficulty is judged; runs in the instance's own desk."""

from django.conf import settings
from django.core.management import call_command

from collector.serving import sample
from tests.browser.rows import read_sample

SLUG = "draft-pairs"


def open_draft() -> str:
    """Open a draft that has no set of pages yet, and return its slug."""
    read_sample()
    call_command(
        "create_collection",
        SLUG,
        protocol="hotpotqa",
        corpus="quarnsey",
        title="Pairs of the island",
        budget=500,
        seed=7,
        requester="Rita",
        contact="rita@example.org",
        set=["seeds.min_default_pages=3"],
    )
    return SLUG


def open_answered() -> str:
    """Open a collection whose pairs are all asked about, and return its slug."""
    read_sample()
    plan = sample.read_plan()
    chosen = sample.demos(plan)["hotpotqa"]
    sample.open_collection(chosen)
    slug = chosen["slug"]
    call_command("simulate", slug, workers=chosen["workers"], seed=chosen["seed"])
    call_command("validate_answers", slug)
    return str(slug)


def finish(slug: str) -> None:
    """Judge, split and release it."""
    chosen = sample.demos(sample.read_plan())["hotpotqa"]
    sample.finish_collection(chosen, settings.HOME / "releases" / slug)
