"""The runs of the reports' tests."""

from tests.report.conftest import better, hostile, store, worse

__all__ = ["better", "hostile", "store", "worse"]
