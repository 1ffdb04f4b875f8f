"""Building one request to the model: what it holds, what is cached, and how it is cut to fit."""
