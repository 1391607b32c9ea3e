"""Events for requesters' programs, and messages between people."""
