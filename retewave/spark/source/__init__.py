"""The data source: files of RDF as a DataFrame."""
