"""Tools: what `--judge`, `--matcher`, `--embedder` and `--scorer` open, and the protocols they implement."""
