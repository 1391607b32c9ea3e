"""What a stage collects: one class per kind of stage, asked through `registry`."""
