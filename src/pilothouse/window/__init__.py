"""What the model is sent in one round: the prompt, and the history through the adapter's encoding. Pure."""
