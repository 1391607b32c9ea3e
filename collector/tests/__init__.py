"""Tests of the reading room and the project."""
