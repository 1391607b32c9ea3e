"""An unmodified boto3 client whose bytes reach Django's test client instead of a socket."""

import json
from typing import Any

from django.test import Client

from marketplace.people.accounts import RequesterKeys
from marketplace.wire.shapes import Validator, service_model

HOST = "127.0.0.1"
ENDPOINT = f"http://{HOST}"


class _Raw:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def stream(self, *args: Any, **kwargs: Any) -> Any:
        yield self.content


def mturk_client(keys: RequesterKeys, endpoint_url: str = ENDPOINT, **config: Any) -> Any:
    """Return boto3's client for these keys; with the default endpoint no socket is opened."""
    return client_of("mturk", keys, endpoint_url, **config)


def client_of(
    service: str, keys: RequesterKeys, endpoint_url: str = ENDPOINT, **config: Any
) -> Any:
    """Return boto3's client of another service that clients find here, as `mturk_client` does."""
    import boto3
    from botocore.config import Config

    client = boto3.client(
        service,
        region_name="us-east-1",
        endpoint_url=endpoint_url,
        aws_access_key_id=keys.access_key_id,
        aws_secret_access_key=keys.secret_access_key,
        config=Config(**{"retries": {"total_max_attempts": 1}, **config}),
    )
    if endpoint_url == ENDPOINT:
        client.meta.events.register(f"before-send.{service}", _send_through_django)
    return client


class _ReplyValidator(Validator):
    def _validate_string(self, value: Any, shape: Any, errors: Any, name: str) -> None:
        # The model has the pattern of an entity's id here; what stands there is a name of the
        # requester's own, "Question_2" in the service's documentation.
        if not name.endswith(".QuestionId"):
            super()._validate_string(value, shape, errors, name)


def check_reply(operation: str, body: bytes) -> None:
    """Raise WireError unless the model allows the reply, which every test so asks of its own."""
    shape = service_model().operation_model(operation).output_shape
    if shape is not None:
        _ReplyValidator().validate(json.loads(body), shape)


def _send_through_django(request: Any, **kwargs: Any) -> Any:
    from botocore.awsrequest import AWSResponse

    headers = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    target = headers.get("X-Amz-Target", "")
    response = Client().generic(
        request.method,
        "/",
        request.body,
        content_type=headers.pop("Content-Type"),
        headers=headers | {"Host": HOST},
    )
    if response.status_code == 200 and target.startswith("MTurk"):
        check_reply(target.rpartition(".")[2], response.content)
    return AWSResponse(request.url, response.status_code, response.headers, _Raw(response.content))
