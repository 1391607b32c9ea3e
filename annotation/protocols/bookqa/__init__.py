"""Book QA: questions about whole books and scripts, labelled by what they ask."""
