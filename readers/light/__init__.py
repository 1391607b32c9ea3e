"""The light reader: no torch, a minute to train, and good enough to say what is easy."""
