"""Regular expressions of XPath: read, and told apart by what it takes to match them."""
