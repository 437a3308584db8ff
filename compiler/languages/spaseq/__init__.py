"""SPAseq: sequences of events, as its paper and its published queries have it."""
