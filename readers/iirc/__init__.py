"""The pipeline of the IIRC paper: links, contexts, a reader; and what is unanswerable."""
