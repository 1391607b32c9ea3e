"""Multi-hop question answering: a question, its answer and its proof out of two paragraphs."""
