"""Reads an upload in a process of its own: python -m collector.ingest.documents ID CLAIM."""

import os
import sys


def main(upload_id: str, claim: str) -> None:
    """Set Django up and do the work."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
    import django

    django.setup()
    from collector.ingest.documents.uploads import work_on

    work_on(int(upload_id), claim)


if __name__ == "__main__":
    main(*sys.argv[1:])
