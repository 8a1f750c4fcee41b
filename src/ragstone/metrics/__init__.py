"""Pure functions from fields and evidence to a score, a file a family: importing this package registers them all."""

from ragstone.registry.discovery import import_all

import_all(__name__, __path__)
