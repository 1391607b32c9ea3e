"""Says whether this process does its work: for a front server or a person who wonders."""

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse

from collector.embedded import jobs


def health(request: HttpRequest) -> JsonResponse:
    """Return 200 while the database answers and embedded jobs are run, else 503 and what fails."""
    embedded = settings.CELERY_BROKER_URL.startswith("memory:")
    checks = {"database": _database_answers(), "jobs": jobs.is_alive() if embedded else None}
    return JsonResponse(checks, status=503 if False in checks.values() else 200)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception:
        return False
    return True
