"""From kept questions to a frozen, checksummed dataset folder; nothing here knows a protocol."""
