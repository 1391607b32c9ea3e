"""Whole collections by a virtual clock and one seed: random acts of people, then the truths."""
