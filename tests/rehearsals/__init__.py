"""Crowds and bad days: run by `make rehearse`, too long for the suite."""
