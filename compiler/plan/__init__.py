"""From conjunctions to one plan for all queries: shapes, join order, shared producers."""
