"""Terms: canonical texts <-> numbers, what value a term has, and which terms may go."""
