"""Provenance: which arrivals a match is made of, and what made them fit."""
