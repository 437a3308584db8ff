"""When an item happened."""
