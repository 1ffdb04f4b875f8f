"""Everything between a call and its start: inspection, policy, decision, result."""
