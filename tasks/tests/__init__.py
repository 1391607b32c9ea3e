"""Tests of the work room."""
