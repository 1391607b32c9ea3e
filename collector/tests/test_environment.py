"""A wrong setting refuses to start and says which and why."""

import os
import socket
import subprocess
import sys

import pytest

from collector.environment import read
from collector.home_lock import FILE, locked_home
from common import environment
from common.environment import WrongEnvironment, database, key_in, mail_server

ADDRESSES = ("http://[", "http://℀.example", "http://a:99999", "http://a:x", "//a", "a", "http://")
NONSENSE = {
    *(("PORT", each) for each in ("0", "-1", "65536", "8e3", "x", " ", "9" * 40)),
    *(("COLLECTOR_SECRET_KEY", each) for each in ("a", "a" * 64, "changeme")),
    *(("COLLECTOR_URL", each) for each in ADDRESSES),
    *(("MARKETPLACE_URL", each) for each in ADDRESSES),
    *(("MTURK_ENDPOINT_URL", each) for each in ADDRESSES),
    *(("COLLECTOR_LIVE_URL", each) for each in ADDRESSES),
    *(("DATABASE_URL", f"postgres://{each}") for each in ("[", "h:x/y", "h:99999/y", "h", "")),
    *(("MARKETPLACE_DATABASE_URL", each) for each in ("sqlite://", "file.sqlite3", "oracle://h/x")),
    *(("REDIS_URL", each) for each in ("redis://[", "redis://h:x/0", "http://h", "h")),
    *(("CELERY_BROKER_URL", each) for each in ("nonsense", "redis://h:99999", "amqp://[")),
    *(("MARKETPLACE_SMTP_URL", each) for each in ("smtp://[", "smtp://h:99999", "smtp://", "h")),
    *(("CROWD_HISTORY", each) for each in ("perhaps", "2")),
    ("COLLECTOR_BEHIND_TLS_PROXY", "maybe"),
    ("COLLECTOR_HASHED_STATIC", "-"),
    ("MARKETPLACE_MAIL_FROM", "nobody"),
    ("COLLECTOR_PROTOCOLS", "/nowhere/at/all"),
    ("COLLECTOR_PROTOCOLS", "/etc/hostname"),
}

ADDRESS = "postgres://ada:p%40ss@db.example:5433/lab"


def test_empty_variables_count_as_not_set(tmp_path):
    assert read({"COLLECTOR_HOME": str(tmp_path), "DATABASE_URL": "", "PORT": ""}).PORT == 8000


def test_a_command_finds_the_site_on_whatever_port_it_is_served(tmp_path):
    home = {"COLLECTOR_HOME": str(tmp_path)}
    with socket.create_server(("127.0.0.1", 0)) as site:
        port = site.getsockname()[1]
        with locked_home(tmp_path, "http://localhost", port):
            assert port == read(home).PORT
            assert read({**home, "PORT": "8123"}).PORT == 8123
        assert read(home).PORT == 8000
        (tmp_path / FILE).write_text(f"17\nhttp://localhost\n{port}\n")
    assert read(home).PORT == 8000
    for nothing in ("", "eighty", "17\nhttp://localhost\n\n", "17\nhttp://localhost\n99999999"):
        (tmp_path / FILE).write_text(nothing)
        assert read(home).PORT == 8000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("PORT", "70000"),
        ("DATABASE_URL", "mysql://localhost/x"),
        ("DATABASE_URL", "postgres://localhost/"),
        ("REDIS_URL", "localhost:6379"),
        ("MTURK_ENDPOINT_URL", "localhost:8000"),
        ("COLLECTOR_URL", "ftp://x"),
        ("MARKETPLACE_SMTP_URL", "mail.example:25"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name, value):
    with pytest.raises(WrongEnvironment, match=name):
        read({name: value})


@pytest.mark.parametrize(("name", "value"), sorted(NONSENSE))
def test_nonsense_is_refused_in_one_line(name, value):
    with pytest.raises(WrongEnvironment, match=name) as refused:
        read({name: value})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("other", [("REDIS_URL", "redis://h"), ("COLLECTOR_BEHIND_TLS_PROXY", "y")])
def test_settings_of_a_server_that_lost_its_database_are_refused(other):
    """A shell that reads `DATABASE_URL=postgres://h/lab?a=b&c=d` unquoted sets no such name."""
    with pytest.raises(WrongEnvironment, match="DATABASE_URL='postgres://…', in quotes"):
        read(dict([other]))
    assert read({**dict([other]), "DATABASE_URL": "sqlite:////tmp/lab.db"})


def test_every_wrong_value_is_named_at_once():
    with pytest.raises(WrongEnvironment) as refused:
        read({"PORT": "x", "REDIS_URL": "y"})
    assert "PORT" in str(refused.value)
    assert "REDIS_URL" in str(refused.value)


def test_a_database_address_is_read_with_all_its_parts():
    row = database(f"{ADDRESS}?sslmode=require")
    assert (row["HOST"], row["PORT"], row["NAME"]) == ("db.example", "5433", "lab")
    assert (row["USER"], row["PASSWORD"]) == ("ada", "p@ss")
    assert row["OPTIONS"] == {"connect_timeout": "3", "sslmode": "require"}
    assert database(f"{ADDRESS}?connect_timeout=9")["OPTIONS"] == {"connect_timeout": "9"}


def test_a_socket_folder_is_a_host():
    assert database("postgres:///lab?host=/run/postgresql")["HOST"] == "/run/postgresql"


def test_without_an_endpoint_the_marketplace_is_embedded():
    assert set(read({}).databases()) == {"default", "marketplace"}
    assert set(read({"MTURK_ENDPOINT_URL": "https://market.example"}).databases()) == {"default"}


def test_a_mail_server_is_read_with_its_way_of_encrypting():
    found = mail_server("smtp+tls://rita:p%40ss@mail.example")
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == ("mail.example", 587)
    assert found["EMAIL_HOST_PASSWORD"] == "p@ss"
    assert (found["EMAIL_USE_TLS"], found["EMAIL_USE_SSL"]) == (True, False)
    assert mail_server("smtps://mail.example:4650")["EMAIL_PORT"] == 4650


def test_the_embedded_marketplace_mails_and_takes_what_it_takes_alone(tmp_path):
    script = (
        "from django.conf import settings as s; "
        "print(s.MARKETPLACE_MAIL_FROM, s.EMAIL_HOST, s.EMAIL_PORT, s.EMAIL_USE_SSL, "
        "s.DATA_UPLOAD_MAX_MEMORY_SIZE, s.DATA_UPLOAD_MAX_NUMBER_FIELDS)"
    )
    given = {
        "MARKETPLACE_MAIL_FROM": "ida@lab.example",
        "MARKETPLACE_SMTP_URL": "smtps://mx.example",
    }
    environment = os.environ | given | {"COLLECTOR_HOME": str(tmp_path)}
    environment["MARKETPLACE_DATA_DIR"] = str(tmp_path)
    said = {}
    for site in ("collector", "marketplace"):
        environment["DJANGO_SETTINGS_MODULE"] = f"{site}.settings"
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said[site] = done.stdout
    assert said["collector"] == "ida@lab.example mx.example 465 True 11000000 10000\n"
    assert said["marketplace"] == said["collector"]


def test_a_home_that_is_served_on_a_server_is_not_used_with_a_file_by_mistake(tmp_path):
    home, kept = {"COLLECTOR_HOME": str(tmp_path)}, tmp_path / "serve.env"
    kept.write_text("MARKETPLACE_DATABASE_URL=postgres:///m\nDATABASE_URL='postgres:///c'\n")
    with pytest.raises(WrongEnvironment, match=r"First: set -a; .* If it is so no more, delete"):
        read(home)
    assert [each.name for each in tmp_path.iterdir()] == ["serve.env"]
    assert read({**home, "DATABASE_URL": "postgres:///c"})
    kept.write_text("MARKETPLACE_DATABASE_URL=postgres:///m\n")
    assert read(home)


@pytest.mark.parametrize(
    ("own", "market"),
    [
        ("https://lab.example", "https://LAB.example:443/"),
        ("http://127.0.0.1:8000", ""),
        ("http://lab.example:8001", "http://lab.example:8001"),
    ],
)
def test_both_sites_at_one_address_are_refused(tmp_path, own, market):
    given = {"COLLECTOR_HOME": str(tmp_path), "COLLECTOR_URL": own, "MARKETPLACE_URL": market}
    with pytest.raises(WrongEnvironment, match="cannot be both sites"):
        read(given)
    assert read({**given, "MARKETPLACE_URL": "https://work.lab.example"})


@pytest.mark.parametrize("left", ["", "\n"])
def test_a_key_that_was_lost_is_not_made_anew_unasked(tmp_path, left):
    path = tmp_path / "secret_key"
    path.write_text(left)
    with pytest.raises(WrongEnvironment, match="secret_key is empty: put it back from a backup"):
        key_in(path)
    assert path.read_text() == left


def test_processes_that_start_at_once_sign_with_one_key(tmp_path, monkeypatch):
    path, others = tmp_path / "secret_key", []

    def another_starts_meanwhile(length):
        monkeypatch.undo()
        others.append(key_in(path))
        return "a key that came late"

    monkeypatch.setattr(environment.secrets, "token_urlsafe", another_starts_meanwhile)
    assert [key_in(path)] == others
    assert len(path.read_text()) >= 50
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["secret_key"]
