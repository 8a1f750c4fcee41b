"""One file per foreign format; foreign field names live here and nowhere else."""

from ragstone.formats.catalogue import find_format, formats
from ragstone.formats.reader import Reader, open_reader, read_dataset
from ragstone.formats.writer import write_dataset

__all__ = ["Reader", "find_format", "formats", "open_reader", "read_dataset", "write_dataset"]
