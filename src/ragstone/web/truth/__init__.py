"""The ground-truth editor: pages over versions of ground truth, and the few writes of the viewer."""
