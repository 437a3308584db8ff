"""Reports: what stands between output rows and matches."""
