"""The reference for live dialogs: Channels alone, which passes each message on to the partner."""

import os
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.urls import path

if not settings.configured:
    settings.configure(
        SECRET_KEY="benchmark",
        USE_TZ=True,
        CHANNEL_LAYERS={
            "default": {
                "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
                "CONFIG": {"hosts": [os.environ["REDIS_URL"]], "prefix": "bare"},
            }
            if os.environ.get("REDIS_URL")
            else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
        },
    )


class Relay(AsyncWebsocketConsumer):
    """One partner: the first message is a name, every later one goes to the other of the pair."""

    mine = ""

    async def connect(self) -> None:
        """Let anybody in."""
        await self.accept()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the name, or pass a message on."""
        text = text_data or ""
        if not self.mine:
            pair, side = text.split(":")
            self.mine, self.other = f"{pair}.{side}", f"{pair}.{1 - int(side)}"
            await self.channel_layer.group_add(self.mine, self.channel_name)
            return
        await self.channel_layer.group_send(self.other, {"type": "told", "text": text})

    async def told(self, event: dict[str, str]) -> None:
        """Hand the partner's message to the page."""
        await self.send(event["text"])


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Answer whoever asks whether the server is up."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


application = ProtocolTypeRouter(
    {"http": answer, "websocket": URLRouter([path("hit/socket", Relay.as_asgi())])}
)
