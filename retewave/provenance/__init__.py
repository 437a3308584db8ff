"""Provenance: which arrivals a match is made of, and why they fit."""
