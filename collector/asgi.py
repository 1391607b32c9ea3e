"""The ASGI application: every page, and the sockets of live dialogs."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.core.asgi import get_asgi_application
from django.urls import path, re_path
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
pages = get_asgi_application()
# Named as a string, like every upper room here; found once the apps are ready.
dialog = import_string("tasks.dialog.consumer.DialogConsumer")

application = ProtocolTypeRouter(
    {
        "http": pages,
        "websocket": URLRouter(
            [path("hit/socket", dialog.as_asgi()), re_path("", WebsocketDenier.as_asgi())]
        ),
    }
)
