"""All rows of both databases, to compare what is stored before and after, here and there."""

import hashlib
import json
import re

from django.db import connections

from tests.simulator.databases import NAMES

# Each request leaves one in these.
NOISE = re.compile("django_session|marketplace_seenrequest|django_migrations|_session$")


def rows_by_table(*, noise: bool = False) -> dict[str, list[str]]:
    """Return every row of both databases by table, in an order of their own."""
    found = {}
    for name in NAMES:
        with connections[name].cursor() as cursor:
            for table in sorted(connections[name].introspection.table_names(cursor)):
                if noise or not NOISE.search(table):
                    cursor.execute(f'SELECT * FROM "{table}"')
                    found[f"{name}.{table}"] = sorted(map(repr, cursor.fetchall()))
    return found


def digest_of(rows: dict[str, list[str]]) -> str:
    """Return the SHA-256 of all rows."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
