"""The pattern files of the original Sparkwave."""
