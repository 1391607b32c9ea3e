"""Trains a protocol's baselines, scores them, and says how; what they are the protocols know."""
