"""How Collector is put on machines, and how fast it is there."""
