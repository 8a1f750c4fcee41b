"""Pure functions from fields and evidence to a score, one file per family. Importing the package registers them."""

from ragstone.registry.declare import import_all

import_all(__name__, __path__)
