"""Does a score agree with people, and can the judge be trusted."""
