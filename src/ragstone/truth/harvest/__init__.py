"""From logs and what users did with the answers to ground truth: good cases, a queue of bad ones, weights for the rest."""
