"""A request to the model: its contents, the cache of its parts, and its truncation to the budget."""
