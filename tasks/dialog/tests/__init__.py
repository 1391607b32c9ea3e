"""Tests of live dialogs."""
