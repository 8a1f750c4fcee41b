"""Evidence that several metric families share; importing this package registers all of it."""

from ragstone.registry.declare import import_all

import_all(__name__, __path__)
