"""A fault's line in the log names the page, and nothing that opens it."""

import io
import logging.config

import pytest

from common.outages import logging_settings

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/accepted/s3cr-et_1/mturk/externalSubmit", "/accepted/…/mturk/externalSubmit"),
        ("/accepted/s3cr-et_1/question/", "/accepted/…/question/"),
        ("/enter/s3cr-et_1/", "/enter/…/"),
        ("/hit/sent/s3cr-et_1/", "/hit/sent/…/"),
        ("/collections/pilot/", "/collections/pilot/"),
        ("redis://:s3cr-et_1@cache:6379/0", "redis://:…@cache:6379/0"),
        ("http://localhost:8000/ada@lab.example", "http://localhost:8000/ada@lab.example"),
    ],
)
def test_a_secret_in_an_address_is_not_logged(path: str, written: str, tmp_path: object) -> None:
    # As Django says it.
    said = logged(str(tmp_path), "text", "%s: %s", "Internal Server Error", path)
    assert said == f"Internal Server Error: {written}\n"


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_nor_is_one_in_a_traceback_or_what_led_to_it(log_format: str, tmp_path: object) -> None:
    try:
        try:
            raise KeyError("/enter/s3cr-et_1/")
        except KeyError as error:
            raise ValueError("no page for /accepted/s3cr-et_2/question/") from error
    except ValueError as error:
        said = logged(str(tmp_path), log_format, "It broke", error=error)
    assert "s3cr-et" not in said
    assert "no page for /accepted/…/question/" in said
    assert "KeyError: '/enter/…/'" in said


def logged(
    home: str, log_format: str, words: str, *values: object, error: Exception | None = None
) -> str:
    """Return what our settings for logs make of a record."""
    made = logging_settings(home, log_format=log_format)
    configured = logging.config.DictConfigurator(made)
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    for name in made["handlers"]["console"]["filters"]:
        handler.addFilter(configured.configure_filter(made["filters"][name]))
    handler.setFormatter(configured.configure_formatter(made["formatters"][log_format]))
    raised = (type(error), error, error.__traceback__) if error else None
    handler.handle(logging.LogRecord("django.request", logging.ERROR, "", 1, words, values, raised))
    return said.getvalue()
