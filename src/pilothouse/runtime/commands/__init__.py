"""The commands of a client, one module for each noun. `runtime.Runtime` binds them."""
