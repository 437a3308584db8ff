"""Where matches go: lines of text, Arrow."""
