"""Tests of the simulated students and teachers."""
