"""Serving is planned whole, or refused in one line that says what to set."""

from pathlib import Path

import pytest

from collector.serving.plan import NO_ENCRYPTION, CannotServeError, Plan, plan

SERVICES = {
    "DATABASE_URL": "postgres://ada@db/collector",
    "MARKETPLACE_DATABASE_URL": "postgres://ada@db/marketplace",
    "REDIS_URL": "redis://queue",
}
SITES = {
    "COLLECTOR_URL": "https://lab.example",
    "MARKETPLACE_URL": "https://work.lab.example",
}
NAMED = {**SERVICES, "DOMAIN": "lab.example"}


def names(planned: Plan) -> list[str]:
    """Return the names of the processes."""
    return [process.name for process in planned.processes]


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, str]:
    """Return the settings of a certificate whose files are there."""
    found = {"TLS_CERTIFICATE": str(tmp_path / "one.pem"), "TLS_KEY": str(tmp_path / "key.pem")}
    for path in found.values():
        Path(path).touch()
    return found


def test_one_name_gives_two_ports_and_a_warning() -> None:
    planned = plan(NAMED)
    assert planned.settings["COLLECTOR_URL"] == "http://lab.example:8000"
    assert planned.settings["MARKETPLACE_URL"] == "http://lab.example:8001"
    assert planned.settings["MTURK_ENDPOINT_URL"] == "http://lab.example:8001"
    assert planned.settings["COLLECTOR_LIVE_URL"] == "http://lab.example:8002"
    assert planned.settings["MARKETPLACE_BEHIND_TLS_PROXY"] == "no"
    assert planned.listening == ("0.0.0.0", (8000, 8001, 8002))
    assert planned.warning == NO_ENCRYPTION


def test_with_a_certificate_the_processes_speak_tls(tls: dict[str, str]) -> None:
    planned = plan({**NAMED, **tls, "PORT": "443"})
    assert planned.settings["COLLECTOR_URL"] == "https://lab.example"
    assert planned.settings["MARKETPLACE_URL"] == "https://lab.example:444"
    webs = [process.command for process in planned.processes if process.command[0] == "granian"]
    webs += [process.command for process in planned.processes if process.command[0] == "uvicorn"]
    assert len(webs) == 3
    assert all(tls["TLS_KEY"] in command for command in webs)
    assert planned.warning == ""


def test_behind_a_front_server_this_machine_alone_is_listened_to() -> None:
    planned = plan({**SERVICES, **SITES})
    assert planned.listening == ("127.0.0.1", (8000, 8001, 8002))
    assert "COLLECTOR_LIVE_URL" not in planned.settings
    assert planned.settings["MARKETPLACE_BEHIND_TLS_PROXY"] == "yes"
    assert planned.settings["MARKETPLACE_HOSTS"] == "work.lab.example,127.0.0.1"
    assert planned.settings["MTURK_ENDPOINT_URL"] == "http://127.0.0.1:8001"


def test_the_marketplace_alone_needs_one_name_one_port_and_one_database() -> None:
    database = {"MARKETPLACE_DATABASE_URL": SERVICES["MARKETPLACE_DATABASE_URL"]}
    planned = plan({**database, "DOMAIN": "192.0.2.7", "PORT": "80"}, "marketplace")
    assert planned.settings["MARKETPLACE_BASE_URL"] == "http://192.0.2.7"
    assert planned.listening == ("0.0.0.0", (80,))
    assert names(planned) == ["marketplace-web", "marketplace-events"]
    assert "COLLECTOR_URL" not in planned.settings


def test_nobody_comes_in_without_an_account_unless_the_host_says_so() -> None:
    assert plan(NAMED).settings["MARKETPLACE_OPEN_SIGN_IN"] == "no"
    opened = plan({**NAMED, "MARKETPLACE_OPEN_SIGN_IN": "yes"})
    assert opened.settings["MARKETPLACE_OPEN_SIGN_IN"] == "yes"
    assert opened.settings["MARKETPLACE_OPEN_DESK"] == "no"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"DATABASE_URL": ""}, "DATABASE_URL="),
        ({"MARKETPLACE_DATABASE_URL": ""}, "MARKETPLACE_DATABASE_URL="),
        ({"REDIS_URL": ""}, "REDIS_URL="),
        ({"REDIS_URL": "queue:6379"}, "REDIS_URL"),
        ({"DATABASE_URL": SERVICES["MARKETPLACE_DATABASE_URL"]}, "a database for each"),
        ({"DOMAIN": ""}, "DOMAIN"),
        ({"DOMAIN": "https://lab.example"}, "without https://"),
        ({"TLS_CERTIFICATE": "/nowhere.pem"}, "TLS_CERTIFICATE"),
        (
            {"COLLECTOR_URL": "http://a.example", "MARKETPLACE_URL": "http://a.example"},
            "both sites",
        ),
        (
            {"COLLECTOR_URL": "https://a.example", "MARKETPLACE_URL": "http://b.example"},
            "both with",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_line(change: dict[str, str], said: str) -> None:
    with pytest.raises(CannotServeError, match=said) as refused:
        plan({**NAMED, **change})
    assert "\n" not in str(refused.value)


def test_a_certificate_without_its_key_is_refused(tls: dict[str, str]) -> None:
    with pytest.raises(CannotServeError, match="TLS_KEY"):
        plan({**NAMED, **tls, "TLS_KEY": ""})
