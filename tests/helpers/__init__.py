"""What tests do their work with: programs that they start, oracles, brokers, pictures."""
