"""One benchmark a file: a module here with `run(peers: bool) -> list[Result]` is one."""
