"""Test 3 of the EP-SPARQL paper: agents in a city whose roads close and open, and a rule that says what they reach."""
