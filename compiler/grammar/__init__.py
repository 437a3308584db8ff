"""The grammars, one lark file a language: SPARQL's own, and the dialects that extend it."""
