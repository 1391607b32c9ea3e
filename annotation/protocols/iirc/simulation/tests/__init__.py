"""Tests of what simulated workers write."""
