"""Configuration files: parsing, validation against the schema, and conversion to domain values."""
