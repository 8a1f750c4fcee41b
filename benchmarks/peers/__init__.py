"""Other ways to compute the same: a module here has a TITLE, `prepare(rows)`, which is not timed, and `work(prepared)`, which is.

`work` gives a list of values for each of our metrics that it knows. A peer imports nothing of Ragstone and none of
the other peers, so that it runs in an environment of its own.
"""
