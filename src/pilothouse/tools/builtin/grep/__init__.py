"""The grep tool: the search, its matches, files in other encodings, and the scanner that stands in for ripgrep."""
