"""Views at run time: the content of windows, SPARQL's operators on columns of term ids, and reports."""
