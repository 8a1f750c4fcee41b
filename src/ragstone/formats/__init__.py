"""Readers and writers of data files. Each foreign format has one file; foreign field names occur only here."""

from ragstone.formats.catalogue import find_format, formats
from ragstone.formats.reader import Reader, open_reader, read_dataset, write_dataset

__all__ = ["Reader", "find_format", "formats", "open_reader", "read_dataset", "write_dataset"]
