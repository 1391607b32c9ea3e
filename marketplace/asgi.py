"""The ASGI application of a marketplace served alone."""

import gc
import os

import django

from common.asgi_handler import THREADS, PagesHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")
django.setup(set_prefix=False)

application = PagesHandler(THREADS)
# What is loaded now stays: no collection looks through it again.
gc.freeze()
