"""A job that takes its time, for workers that tests run: it says when it begins and ends."""

import os
import time
from pathlib import Path

from celery import shared_task

SAID = "jobs.txt"


@shared_task(name="slow")
def work(name: str, seconds: float) -> None:
    """Take so many seconds, and say so in a file of the instance's folder."""
    with (Path(os.environ["COLLECTOR_HOME"]) / SAID).open("a") as file:
        print(f"{name} begins", file=file, flush=True)
        time.sleep(seconds)
        print(f"{name} ends", file=file, flush=True)
