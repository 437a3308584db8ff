"""What nodes of the network do when a row arrives; a file an operator, named as in retewave.compiler.plan.operators."""
