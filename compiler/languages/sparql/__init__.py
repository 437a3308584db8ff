"""SPARQL 1.1, in C-SPARQL's frame; the other languages build on its terms, expressions and patterns."""
