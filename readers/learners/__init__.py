"""Networks, vocabularies and encoders that the papers' readers are made of, on torch."""
