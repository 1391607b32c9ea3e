"""Rehearses a collection: simulated workers on a copy of it, thrown away afterwards."""
