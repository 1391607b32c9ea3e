"""An unmodified boto3 client whose bytes reach Django's test client instead of a socket."""

from typing import Any

from django.test import Client

from marketplace.people.account_opening import RequesterKeys

HOST = "127.0.0.1"
ENDPOINT = f"http://{HOST}"


class _Raw:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def stream(self, *args: Any, **kwargs: Any) -> Any:
        yield self.content


def mturk_client(keys: RequesterKeys, endpoint_url: str = ENDPOINT, **config: Any) -> Any:
    """Return boto3's client for these keys; with the default endpoint no socket is opened."""
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=endpoint_url,
        aws_access_key_id=keys.access_key_id,
        aws_secret_access_key=keys.secret_access_key,
        config=Config(**{"retries": {"total_max_attempts": 1}, **config}),
    )
    if endpoint_url == ENDPOINT:
        client.meta.events.register("before-send.mturk", _send_through_django)
    return client


def _send_through_django(request: Any, **kwargs: Any) -> Any:
    from botocore.awsrequest import AWSResponse

    headers = {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }
    response = Client().generic(
        request.method,
        "/",
        request.body,
        content_type=headers.pop("Content-Type"),
        headers=headers | {"Host": HOST},
    )
    return AWSResponse(request.url, response.status_code, response.headers, _Raw(response.content))
