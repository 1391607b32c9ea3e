"""A wrong setting refuses to start and says which and why."""

import pytest

from collector.environment import WrongEnvironment, database, read


def test_empty_variables_count_as_not_set():
    assert read({"DATABASE_URL": "", "PORT": ""}).PORT == 8000


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
    ],
)
def test_a_wrong_value_is_refused_by_name(name, value):
    with pytest.raises(WrongEnvironment, match=name):
        read({name: value})


def test_every_wrong_value_is_named_at_once():
    with pytest.raises(WrongEnvironment) as refused:
        read({"PORT": "x", "REDIS_URL": "y"})
    assert "PORT" in str(refused.value)
    assert "REDIS_URL" in str(refused.value)


def test_a_database_address_is_read_with_all_its_parts():
    row = database("postgres://ada:p%40ss@db.example:5433/lab?sslmode=require")
    assert (row["HOST"], row["PORT"], row["NAME"]) == ("db.example", "5433", "lab")
    assert (row["USER"], row["PASSWORD"]) == ("ada", "p@ss")
    assert row["OPTIONS"] == {"sslmode": "require"}


def test_a_socket_folder_is_a_host():
    assert database("postgres:///lab?host=/run/postgresql")["HOST"] == "/run/postgresql"


def test_without_an_endpoint_the_marketplace_is_embedded():
    assert set(read({}).databases()) == {"default", "marketplace"}
    assert set(read({"MTURK_ENDPOINT_URL": "https://market.example"}).databases()) == {"default"}
