"""The ASGI application of a marketplace served alone."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")

application = get_asgi_application()
