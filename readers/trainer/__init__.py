"""Trains a learner by a recipe: a run that can be broken off and goes on, or is estimated."""
