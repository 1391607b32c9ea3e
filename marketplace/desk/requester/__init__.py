"""A requester's pages: projects, batches, HITs, bonuses, messages, events."""
