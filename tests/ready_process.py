"""Imported once by the process that `together` forks its processes from: all of the product."""

from importlib import import_module

import django
from django.conf import settings

django.setup()
import_module(settings.ROOT_URLCONF)
