"""The ASGI application: every page, and later every live dialog."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
application = get_asgi_application()
