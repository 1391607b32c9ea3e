"""The peer for pages: the same ten paragraphs and ten questions as an oTree project."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from deploy.benchmarks.serving import Served, running
from tests.services import free_port

SETTINGS = """
SESSION_CONFIGS = [{"name": "writing", "app_sequence": ["writing"], "num_demo_participants": 1}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1, "participation_fee": 0}
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
SECRET_KEY = "benchmark"
"""
APP = """
import json
from pathlib import Path

from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, Page, models


class C(BaseConstants):
    NAME_IN_URL = "writing"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1
    PARAGRAPHS = json.loads(Path("paragraphs.json").read_text())


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    pass


QUESTIONS = [f"question_{number}" for number in range(10)]
for question in QUESTIONS:
    setattr(Player, question, models.LongStringField())


class Write(Page):
    form_model = "player"
    form_fields = QUESTIONS


page_sequence = [Write]
"""
TEMPLATE = """
{{ block title }}Ask about each paragraph{{ endblock }}
{{ block content }}
{{ for paragraph in C.PARAGRAPHS }}<p>{{ paragraph }}</p>{{ endfor }}
{{ formfields }}
{{ next_button }}
{{ endblock }}
"""


@contextmanager
def site(python: str, folder: Path, database: str, texts: list[str]) -> Iterator[Served]:
    """Serve a page of these paragraphs by oTree's production server until the block is left."""
    (folder / "writing").mkdir(parents=True)
    (folder / "_static").mkdir()
    for name, content in {
        "settings.py": SETTINGS,
        "writing/__init__.py": APP,
        "writing/Write.html": TEMPLATE,
        "paragraphs.json": json.dumps(texts),
    }.items():
        (folder / name).write_text(content)
    programs = Path(python).parent
    environment = {
        "DATABASE_URL": database,
        "OTREE_PRODUCTION": "1",
        "PATH": f"{programs}:/usr/bin:/bin",
    }
    otree, port = str(programs / "otree"), free_port()
    subprocess.run(
        [otree, "resetdb", "--noinput"],
        check=True,
        cwd=folder,
        env=environment,
        capture_output=True,
    )
    with running([otree, "prodserver1of2", str(port)], environment, port, folder) as server:
        yield server


def pages_of(server: Served, number: int) -> list[str]:
    """Return the addresses of the page for so many participants, who have just arrived."""
    wanted = {"session_config_name": "writing", "num_participants": number}
    made = httpx.post(f"{server.url}/api/sessions", json=wanted, timeout=600)
    arrival = made.raise_for_status().json()["session_wide_url"]
    return [str(httpx.get(arrival, follow_redirects=True, timeout=60).url) for _ in range(number)]


def form_of(data: dict[str, Any]) -> dict[str, str]:
    """Return a submission of ours as the fields of oTree's form: one for each question."""
    questions = data["questions"]
    return {f"question_{n}": json.dumps(question) for n, question in enumerate(questions)}
