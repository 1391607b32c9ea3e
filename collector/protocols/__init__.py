"""How a protocol's folder is loaded, and what a collection makes of its parameters."""
