"""A turn: the driver, its steps, and what belongs to one turn only."""
