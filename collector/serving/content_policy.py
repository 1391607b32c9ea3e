"""Writes the policy of every page, each of the few there are once: half of django-csp's time."""

from dataclasses import asdict

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# What a view's decorators have asked for.
ASKED = ("_csp_config", "_csp_update", "_csp_replace")
_written: dict[str, str] = {}


class PolicyMiddleware(CSPMiddleware):
    """django-csp's, for a site without nonces and without policies that only report."""

    def process_request(self, request: HttpRequest) -> None:
        """Make no nonce."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the header, unless the view has set its own."""
        if HEADER not in response:
            asked = repr([getattr(response, name, None) for name in ASKED])
            if asked not in _written:
                _written[asked] = build_policy(**asdict(self.get_policy_parts(request, response)))
            response[HEADER] = _written[asked]
        return response
