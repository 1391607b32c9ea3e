"""The ASGI application: every page, and the sockets of live dialogs."""

import os

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path
from django.utils.module_loading import import_string

from collector.pages import Pages

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
django.setup(set_prefix=False)
# Named as a string, like every upper room here; found once the apps are ready.
dialog = import_string("tasks.dialog.consumer.DialogConsumer")

application = ProtocolTypeRouter(
    {
        "http": Pages(),
        "websocket": URLRouter(
            [path("hit/socket", dialog.as_asgi()), re_path("", WebsocketDenier.as_asgi())]
        ),
    }
)
