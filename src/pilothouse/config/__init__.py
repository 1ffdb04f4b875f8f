"""Configuration files: read, checked against their schema, and turned into the domain's values."""
