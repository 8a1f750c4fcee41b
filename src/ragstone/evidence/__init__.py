"""What is observed about a sample: importing this package registers every kind of evidence in it."""

from ragstone.registry.discovery import import_all

import_all(__name__, __path__)
