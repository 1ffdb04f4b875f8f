"""Model adapters. `base` is the contract; an adapter only translates, and never retries."""
