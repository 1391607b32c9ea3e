"""Readers that are trained: on torch and transformers, which nothing else imports."""
