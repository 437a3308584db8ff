"""Regular expressions of XPath: read, and sorted by the effort of matching them."""
