"""Containers, units and plain processes run the same commands, with settings that are read."""

import re
import subprocess
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from collector.environment import Environment
from collector.serving.plan import plan
from marketplace.environment import Environment as MarketplaceEnvironment

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
PROGRAMS = {name: row for name, row in COMPOSE["services"].items() if row["image"] == "collector"}
UNITS = {path.stem: path for path in sorted((DEPLOY / "systemd").glob("*.service"))}
ISLAND = (DEPLOY.parent / "marketplace" / "settings.py").read_text("utf-8")
READ = {*Environment.model_fields, *MarketplaceEnvironment.model_fields}
# What a host may write into deploy/.env beside what is always set.
CHOICES = {
    name
    for settings_of in (COMPOSE["x-market"], COMPOSE["x-program"]["environment"])
    for name, value in settings_of.items()
    if f"${{{name}:-" in str(value)
}
BY_PLAN = plan(
    {
        "DATABASE_URL": "postgres:///collector",
        "MARKETPLACE_DATABASE_URL": "postgres:///marketplace",
        "REDIS_URL": "redis://127.0.0.1:6379/0",
        "COLLECTOR_URL": "https://lab.example",
        "MARKETPLACE_URL": "https://work.lab.example",
        "COLLECTOR_HOME": "/var/lib/collector",
    }
)
COMMANDS = {process.name: list(process.command) for process in BY_PLAN.processes}
PREPARE = ["python", "manage.py", "serve", "--prepare"]
BACKUP = ["python", "-m", "deploy.backup"]


def unit(path: Path) -> ConfigParser:
    """Return a unit, which repeats no key of a section."""
    read = ConfigParser(interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(path, "utf-8")
    return read


def variables(path: Path) -> dict[str, str]:
    """Return the variables that a file of settings gives."""
    lines = path.read_text("utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value.strip("'") for name, _, value in pairs}


def test_containers_run_what_plain_processes_run() -> None:
    here = {"0.0.0.0": "127.0.0.1"}
    found = {
        name: [here.get(word, word) for word in row["command"].split()]
        for name, row in PROGRAMS.items()
    }
    assert found == {**COMMANDS, "prepare": PREPARE}


def test_units_run_what_plain_processes_run() -> None:
    programs = "/opt/collector/.venv/bin/"
    found = {
        name: unit(path)["Service"]["ExecStart"].removeprefix(programs).split()
        for name, path in UNITS.items()
    }
    backup = [*BACKUP, "/var/backups/collector"]
    assert found == {**COMMANDS, "collector-prepare": PREPARE, "collector-backup": backup}


def test_a_backup_in_containers_is_that_of_units_and_its_server_is_prepared_as_theirs() -> None:
    keeper = COMPOSE["services"]["backup"]
    assert keeper["command"].endswith(f'{" ".join(BACKUP)} /backups"')
    assert set(keeper["environment"]) - {"PGDATA", "BACKUPS_KEPT"} <= READ
    given = dict(re.findall(r"-c (\w+)=(\S+)", COMPOSE["services"]["database"]["command"]))
    sql = (DEPLOY / "barman.sql").read_text("utf-8")
    assert given == dict(re.findall(r"ALTER SYSTEM SET (\w+) = '(\w+)'", sql))


def test_every_unit_reads_the_settings_and_waits_for_the_databases() -> None:
    for name, path in UNITS.items():
        read = unit(path)
        assert read["Service"]["EnvironmentFile"] == "/etc/collector/environment"
        assert read["Unit"]["PartOf"] == "collector.target"
        if name != "collector-prepare":
            assert read["Unit"]["Requires"] == "collector-prepare.service"
            assert read["Install"]["WantedBy"] == "collector.target"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_container_gets_only_settings_that_are_read(name: str) -> None:
    assert set(PROGRAMS[name]["environment"]) <= READ
    if name != "prepare":
        assert PROGRAMS[name]["depends_on"] == {
            "prepare": {"condition": "service_completed_successfully"}
        }


def test_units_get_only_settings_that_are_read_and_as_they_are_planned() -> None:
    given = variables(DEPLOY / "systemd" / "environment")
    assert set(given) <= READ
    assert given == BY_PLAN.settings


def test_a_shell_reads_the_settings_of_units_whole_also_with_an_ampersand(tmp_path: Path) -> None:
    longer = (DEPLOY / "systemd" / "environment").read_text("utf-8")
    (tmp_path / "environment").write_text(longer.replace("///collector", "///collector?a=1&b=2"))
    reads = ["sh", "-c", '. ./environment; echo "$DATABASE_URL"']
    assert subprocess.check_output(reads, cwd=tmp_path) == b"postgres:///collector?a=1&b=2\n"


def test_containers_and_units_set_the_same() -> None:
    prepare = set(PROGRAMS["prepare"]["environment"])
    assert prepare - CHOICES == set(variables(DEPLOY / "systemd" / "environment"))


def test_a_host_in_containers_can_set_what_the_marketplace_reads() -> None:
    readme = (DEPLOY.parent / "marketplace" / "README.md").read_text("utf-8")
    told = set(re.findall(r"^\| `(MARKETPLACE_\w+)` \|", readme, re.MULTILINE))
    # Behind Caddy a visitor's address is in X-Forwarded-For.
    by_itself = {"MARKETPLACE_CLIENT_ADDRESS_HEADER"}
    assert told - by_itself <= set(COMPOSE["x-market"])


def test_one_container_builds_the_image_and_every_one_that_runs_it_is_walled_in() -> None:
    assert [name for name, row in PROGRAMS.items() if "build" in row] == ["prepare"]
    for row in PROGRAMS.values():
        assert row["pull_policy"] == "never"
        assert row["read_only"] is True
        assert row["cap_drop"] == ["ALL"]
        assert row["security_opt"] == ["no-new-privileges:true"]
    assert "USER collector" in (DEPLOY / "Dockerfile").read_text("utf-8")


def test_a_container_that_is_made_again_counts_on_where_the_one_before_it_ended() -> None:
    # The files that are added up for /metrics are named after hosts.
    named = {name: row.get("hostname") for name, row in PROGRAMS.items() if name != "prepare"}
    assert named == {name: name for name in named}


def test_the_image_of_readers_has_the_torch_that_make_installs() -> None:
    named = re.compile(r"torch==[\d.]+")
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    makefile = (DEPLOY.parent / "Makefile").read_text("utf-8")
    assert named.findall(dockerfile) == named.findall(makefile)


def test_what_compose_asks_for_is_written_before_it_runs() -> None:
    asked = set(re.findall(r"\$\{(\w+):\?\}", (DEPLOY / "compose.yaml").read_text("utf-8")))
    script = (DEPLOY / "containers.sh").read_text("utf-8")
    assert asked <= set(re.findall(r'echo "(\w+)=', script))


def test_the_front_server_is_told_every_address() -> None:
    asked = set(re.findall(r"\{\$(\w+)", (DEPLOY / "Caddyfile").read_text("utf-8")))
    assert asked == set(COMPOSE["services"]["front"]["environment"])


def test_the_front_server_lets_silent_connections_go_and_takes_what_the_sites_take() -> None:
    front = (DEPLOY / "Caddyfile").read_text("utf-8")
    assert set(re.findall(r"^\t+(read_\w+|idle) \d", front, re.MULTILINE)) == {
        "read_header",
        "read_body",
        "idle",
    }
    market = re.search(r"^LONGEST_BODY_BYTES = ([\d_]+)$", ISLAND, re.MULTILINE)
    assert market
    longest = [settings.LONGEST_BODY_BYTES // 1_000_000, int(market[1]) // 1_000_000]
    assert re.findall(r"max_size (\d+)MB", front) == list(map(str, longest))


def test_volumes_and_services_that_are_named_are_there() -> None:
    named = {
        re.sub(r"\$\{\w+:-(\w+)\}", r"\1", volume).split(":")[0]
        for row in COMPOSE["services"].values()
        for volume in row.get("volumes", [])
    }
    files = {name for name in named if name.startswith("./")}
    assert named - files == set(COMPOSE["volumes"])
    assert all((DEPLOY / name).is_file() for name in files)
    waited = {name for row in COMPOSE["services"].values() for name in row.get("depends_on", {})}
    assert waited <= set(COMPOSE["services"])


def test_every_benchmark_prints_its_table_by_itself_too() -> None:
    benchmarks = {path.stem: path.read_text("utf-8") for path in DEPLOY.glob("benchmarks/*.py")}
    with_table = {name for name, text in benchmarks.items() if "\ndef main(" in text}
    by_itself = {
        name
        for name, text in benchmarks.items()
        if re.search(r"\bmain\(", text.partition('if __name__ == "__main__":')[2])
    }
    assert with_table == by_itself
    assert {"readers", "retrieval", "marketplace"} <= with_table
