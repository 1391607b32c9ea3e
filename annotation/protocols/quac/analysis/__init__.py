"""What the paper tells of its dialogs, counted for a collection: its tables and figures."""
