"""The WSGI application of a marketplace served alone."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")

application = get_wsgi_application()
