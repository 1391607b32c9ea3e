"""Questions over a closed collection of documents, with evidence by passage and character."""
