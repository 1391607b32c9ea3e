"""The compose file in containers: upgraded, worked at over TLS, thrown away, brought back."""

import json
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests import services
from tests.browser.conftest import ARGUMENTS
from tests.browser.dialog_page import Said, Talker, pair
from tests.browser.dialog_rows import CHOSEN
from tests.browser.person import Person
from tests.browser.question_page import QuestionPage, plan
from tests.browser.rows import STAGES
from tests.browser.test_dialog import assert_clean, finish
from tests.rehearsals import containers
from tests.rehearsals.containers import Engine, Site
from tests.serving import ROOT

ALONE, TALK = "Single: one question", "Talk about a text that one of you sees"
SINGLE = {
    **{f"{stage}.places_at_once": 1 for stage in STAGES},
    "seeds.min_links": 10,
    "seeds.min_links_in_corpus": 0,
    "seeds.min_characters": 870,
    "seeds.max_characters": 925,
    "question_qualification.title": f'"{ALONE}"',
    "question_qualification.items_per_hit": 1,
    "question_qualification.questions_per_hit": 1,
    "question_qualification.multi_link_questions": 0,
    "answer_qualification.items_per_hit": 1,
    "question_qualification.places_at_once": 8,
    "pay.approve_after_hours": 0,
}
# Both are away for as long as it takes to start everything again.
TALKS = [each for each in CHOSEN if not each.startswith("dialog.grace_seconds")] + [
    *("dialog.grace_seconds=900", f'dialog.title="{TALK}"', "pay.approve_after_hours=0")
]
DATABASES = ("collector", "marketplace")
MOST_SECONDS, MOST_LOST_SECONDS = 15 * 60, 5.0
PROGRAMS = (
    *("collector-web", "collector-live", "collector-jobs", "collector-dialogs"),
    *("collector-readers", "collector-clock", "marketplace-web", "marketplace-events"),
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Return an engine of containers that has nothing yet; whatever it starts is stopped."""
    if why := containers.missing():
        pytest.skip(why)
    one = Engine(tmp_path)
    try:
        yield one
    finally:
        one.close()


@pytest.fixture
def browser() -> Iterator[Browser]:
    """Return a browser in which everybody has a context of their own."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=services.chromium(), args=[*ARGUMENTS, "--no-proxy-server"]
        )
        yield chromium
        chromium.close()


def test_a_site_in_containers_is_upgraded_worked_at_and_restored(
    engine: Engine, browser: Browser, tmp_path: Path
) -> None:
    tell = Telling()
    before = Site(engine, earlier_version(), tmp_path / "old")
    site = Site(engine, "", tmp_path / "new")
    # This machine's Caddy may be older than the one for which that version's file was written.
    before.take("deploy/Caddyfile", site)
    # Data is upgraded, not how libraries are installed: the same ones are installed once.
    for file in ("deploy/Dockerfile", "deploy/Dockerfile.dockerignore"):
        before.take(file, site)
    with engine.making_images():
        tell("Debian's python in an image")
        before.build()
        tell(f"the version {before.version[:8]} built")
    tell("PostgreSQL, Redis and Caddy in images, made meanwhile")
    before.up()
    tell("that version is well")
    open_collections(before)
    tell("a corpus read, two collections open")
    ada = enter(before, browser, "Ada")
    begin_question(ada)
    before.compose("down")
    site.take("deploy/.env", before)
    site.build()
    tell(f"this version built: {engine.size('collector') // 1_000_000} MB")
    site.up()
    tell("this version is well, with the rows of the other")
    assert_walled_in(site)

    finish_question(ada)
    tell("a HIT begun before the upgrade handed in over TLS")
    talkers = [enter(site, browser, name) for name in ("Grace", "Mallory")]
    student, teacher = pair(*talkers, TALK)
    talk(student, teacher, 1)
    tell("two people talk over TLS")

    restored = throw_away_and_restore(site, tmp_path / "elsewhere", tell)
    go_on(student, teacher)
    assert_clean(ada, *talkers)
    assert_nobody_is_paid_twice(restored)
    restored.wait_for_backup()
    tell("the dialog went on to its end and was paid once; the next backup has begun")
    assert tell.seconds() < MOST_SECONDS


class Telling:
    """Says what is done, and after how many seconds."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    def seconds(self) -> float:
        """Return how long it has been."""
        return time.monotonic() - self.began

    def __call__(self, what: str) -> None:
        """Print a line."""
        print(f"containers: {self.seconds():4.0f} s  {what}", flush=True)


def throw_away_and_restore(site: Site, folder: Path, tell: Telling) -> Site:
    """Lose everything but the backups and the settings; return the site that comes of them."""
    site.wait_for_backup()
    beats = Beats(site)
    time.sleep(3 * MOST_LOST_SECONDS)
    died = throw_away(site)
    tell("everything is gone but the backup and its settings")
    restored = Site(site.engine, "", folder)
    restored.take("deploy/.env", site)
    restored.compose("--profile", "restore", "run", "--rm", "--no-deps", "restore")
    restored.up()
    lost = [(died - beats.last(restored, database)).total_seconds() for database in DATABASES]
    tell(f"restored; the two databases lost the last {lost[0]:.2f} s and {lost[1]:.2f} s")
    assert max(lost) <= MOST_LOST_SECONDS
    containers.wait_until(restored.is_sound, "the doctors to find nothing", restored.examine)
    tell("neither doctor finds anything")
    return restored


def earlier_version() -> str:
    """Return the last tag, or what there was before the newest migration of a database."""
    asked = (
        ("describe", "--tags", "--abbrev=0"),
        ("log", "-1", "--format=%H^", "--", "*/migrations/*"),
    )
    for words in asked:
        found = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        if version := found.stdout.strip():
            return version
    pytest.skip("An upgrade is rehearsed in a checkout that knows its history")


def open_collections(site: Site) -> None:
    """Read the sample in; put up HITs of one question, and dialogs."""
    sample = "deploy/sample/quarnsey.xml"
    read = ("--corpus", "quarnsey", "--licence", "CC0 1.0", "--processes", "1")
    site.manage("ingest_dump", sample, *read)
    alone = [f"{name}={value}" for name, value in SINGLE.items()]
    for slug, protocol, seeds, changes in (
        ("single", "iirc", "1", alone),
        ("talks", "quac", "4", TALKS),
    ):
        chosen = ("--protocol", protocol, "--corpus", "quarnsey", "--budget", "900", "--seed", "7")
        of = ("--requester", "Rita", "--contact", "rita@example.org")
        site.manage("create_collection", slug, *chosen, *of, *(f"--set={one}" for one in changes))
        site.manage("select_seeds", slug, "--count", seeds)
        site.manage("publish", slug)


def enter(site: Site, browser: Browser, name: str) -> Person:
    """Return somebody who has followed the personal link of a new account."""
    # The front server is its own authority; everything else of TLS is as usual.
    context = browser.new_context(
        viewport={"width": 1366, "height": 768}, ignore_https_errors=True, locale="en-GB"
    )
    person = Person(name, site, context)
    person.page.set_default_timeout(60_000)
    person.page.goto(site.worker(name))
    person.page.get_by_role("main").get_by_role("button").click()
    expect(person.page.get_by_role("heading", name="HITs for you")).to_be_visible()
    return person


def begin_question(person: Person) -> QuestionPage:
    """Write a question and leave it unsent."""
    person.begin(ALONE)
    page = QuestionPage(person)
    page.write(plan(list(page.items.values()), 1, 0)[0])
    person.wait_until_saved()
    return page


def finish_question(person: Person) -> None:
    """Hand in what was written before."""
    person.page.reload()
    person.ready()
    person.expect_progress("1 of 1 question")
    QuestionPage(person).submit()
    person.expect_receipt()


def talk(student: Talker, teacher: Talker, number: int) -> None:
    """Ask and answer one question."""
    words = " ".join(teacher.section[12 + number : 15 + number])
    said = Said(f"Which year was it, number {number}?", words, "neither", "follow_up")
    student.wait_for_move(f"ask question {number}")
    student.ask(said)
    teacher.wait_for_move(f"answer question {number}")
    teacher.answer(said)


def go_on(student: Talker, teacher: Talker) -> None:
    """Go on where the backup ended: the first question is answered, the second is asked."""
    for talker in (student, teacher):
        talker.person.responses.clear()
        talker.person.page.reload()
        talker.wait_for("talking")
    expect(student.frame.locator("[data-log]")).to_contain_text("number 1")
    talk(student, teacher, 2)
    student.wait_for_move("ask question 3")
    finish(student, teacher)


def assert_walled_in(site: Site) -> None:
    """Nothing runs as anybody who may do anything, or can write beside its volumes."""
    for name in PROGRAMS:
        ids = "id -u; id -G; grep CapEff /proc/1/status; grep NoNewPrivs /proc/1/status"
        assert site.exec(name, "sh", "-c", ids).split() == [
            *("10001", "10001", "CapEff:", "0000000000000000", "NoNewPrivs:", "1")
        ], name
        folders = "/ /etc /collector /opt/libraries"
        tried = f"for one in {folders}; do touch $one/x 2>&1 && exit 1; done; touch /tmp/x"
        assert site.exec(name, "sh", "-c", tried).count("Read-only") == 4, name
    tools = (
        "for one in cc gcc g++ c++ ld make cmake cargo; do command -v $one && exit 1; done; true"
    )
    assert site.exec("collector-web", "sh", "-c", tools) == ""


class Beats:
    """A row a fifth of a second in each database, so that what is lost can be told in seconds."""

    def __init__(self, site: Site) -> None:
        for database in DATABASES:
            self.sql(site, database, "CREATE TABLE beat (at timestamptz)")
        insert = "psql -U collector -qc 'INSERT INTO beat VALUES (clock_timestamp())'"
        both = "; ".join(f"{insert} {database}" for database in DATABASES)
        beat = f"while :; do {both}; sleep 0.2; done"
        site.engine.podman("exec", "--detach", site.container("database"), "sh", "-c", beat)

    def last(self, site: Site, database: str) -> datetime:
        """Return the time of the last beat that a database knows."""
        return datetime.fromisoformat(self.sql(site, database, "SELECT max(at) FROM beat").strip())

    @staticmethod
    def sql(site: Site, database: str, statement: str) -> str:
        """Return what a statement gives."""
        psql = ("psql", "-U", "collector", "--no-align", "--tuples-only", "-c", statement, database)
        return site.exec("database", *psql)


def throw_away(site: Site) -> datetime:
    """Kill everything at once and remove it with every volume but the backups.

    Returns when the database died.
    """
    database = site.container("database")
    site.engine.podman("kill", database, site.container("backup"))
    died = "{{.State.FinishedAt.UnixNano}}"
    nanoseconds = int(site.engine.podman("inspect", "--format", died, database))
    site.engine.podman("kill", "--all")
    site.engine.podman("rm", "--all", "--force")
    volumes = site.engine.podman("volume", "ls", "--quiet").split()
    site.engine.podman("volume", "rm", *(one for one in volumes if not one.endswith("_backups")))
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)


def assert_nobody_is_paid_twice(site: Site) -> None:
    """Both that talked get a bonus for their turns; the marketplace has paid what is noted here."""
    code = """
from tasks.models import Payment
found = Payment.objects.filter(kind="bonus")
print(json.dumps(sorted(found.values_list("key", "state", "amount_cents"))))
"""

    def noted() -> list[tuple[str, str, int]]:
        return [tuple(row) for row in site.ask(code)]

    def both_are_paid() -> bool:
        found = noted()
        turns = [key for key, _, _ in found if key.startswith("turns:")]
        return len(turns) == 2 and {state for _, state, _ in found} == {"confirmed"}

    containers.wait_until(both_are_paid, "both bonuses", site.explain)
    rows = "from marketplace.models import BonusPayment as B; "
    amounts = "print(sorted(B.objects.values_list('amount_cents', flat=True)))"
    market = ("python", "-m", "marketplace", "shell", "--no-imports", "-c", rows + amounts)
    paid = json.loads(site.exec("marketplace-web", *market))
    assert paid == sorted(amount for _, _, amount in noted())
