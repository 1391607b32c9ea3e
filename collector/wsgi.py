"""The WSGI application, for pages and the API in production."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
application = get_wsgi_application()
