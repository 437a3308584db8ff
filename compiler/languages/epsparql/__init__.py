"""EP-SPARQL, as its paper has it."""
