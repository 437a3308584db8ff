"""Events that an ontology of 1,000 classes defines: OBEP at work, measured."""
