"""One page a file: a function from the library and the address to page data."""
