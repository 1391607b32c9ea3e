"""Refuses a form that was not sent from a page of ours, on a page of ours."""

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.decorators import decorator_from_middleware


class FormCheck(CsrfViewMiddleware):
    """Django's own check of a form's token; only what a visitor then reads is ours."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        from marketplace.site.error_pages import form_not_ours

        return form_not_ours(request)


form_checked = decorator_from_middleware(FormCheck)
