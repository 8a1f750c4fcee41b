"""Who works on the parts of a run: this process, some processes of this machine, or the workers of a cluster. The result is the same."""
