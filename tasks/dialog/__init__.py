"""Live dialogs between a student and a teacher."""
