"""Catches what the API refuses, by its documented code."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from botocore.exceptions import ClientError


@contextmanager
def refused(code: str, message: str = "") -> Iterator[None]:
    """Expect a refusal: a TurkErrorCode without its prefix, or an unmodeled error type."""
    with pytest.raises(ClientError) as caught:
        yield
    response = caught.value.response
    turk_code = response.get("TurkErrorCode", "").removeprefix("AWS.MechanicalTurk.")
    assert code in (turk_code, response["Error"]["Code"]), response
    assert message in response["Error"]["Message"]
