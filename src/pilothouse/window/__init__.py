"""The contents of one request to the model: prompt, history, compression, truncation. Pure functions of messages."""
