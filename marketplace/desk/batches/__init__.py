"""Publishing without code: a template and a CSV become HITs, answers come back as a CSV."""
