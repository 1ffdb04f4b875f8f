"""The figures of the README, each beside a floor and a peer measured in the same run: `make bench`."""
