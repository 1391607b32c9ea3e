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
    ],
)
def test_a_secret_in_an_address_is_not_logged(path: str, written: str, tmp_path: object) -> None:
    made = logging_settings(str(tmp_path))
    configured = logging.config.DictConfigurator(made)
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    for name in made["handlers"]["console"]["filters"]:
        handler.addFilter(configured.configure_filter(made["filters"][name]))
    # As Django says it.
    record = logging.LogRecord(
        "django.request", logging.ERROR, "", 1, "%s: %s", ("Internal Server Error", path), None
    )
    handler.handle(record)
    assert said.getvalue() == f"Internal Server Error: {written}\n"
