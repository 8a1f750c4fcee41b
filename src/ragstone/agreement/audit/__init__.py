"""Is the judge fair: tried on a user's own answers, on twins that should be equal, and on questions whose answer is known."""
