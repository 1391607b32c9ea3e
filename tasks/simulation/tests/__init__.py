"""Tests of the simulated workers."""
