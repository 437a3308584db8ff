"""How each operator is planned; a file an operator, named as in retewave.rete.operators."""
