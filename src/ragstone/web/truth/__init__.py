"""The ground-truth editor: pages about versions of ground truth, and the only requests that write."""
