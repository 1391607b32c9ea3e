"""Simulated students and teachers: they talk as people might, or say again what people said."""
