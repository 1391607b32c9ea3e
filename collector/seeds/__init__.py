"""Generic filters and samplers from which protocols choose their seeds."""
