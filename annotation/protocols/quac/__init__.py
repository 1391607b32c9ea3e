"""Question answering in context: a student asks about a section that only the teacher sees."""
