"""Weights are read as they were written, and a file that is cut off is told as such."""

import json

import numpy as np
import pytest

from ragstone.errors import StorageError
from ragstone.models.safetensors import read_safetensors


def write(path, tensors):
    """The format by hand: eight bytes of length, a header in JSON, the numbers."""
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64"}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        content = array.tobytes()
        header[name] = {
            "dtype": kinds[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([1.5, -2], dtype=np.float16),
    "c": np.array(7, dtype=np.int64),
}


def test_tensors_come_back(tmp_path):
    found = read_safetensors(write(tmp_path / "w.safetensors", TENSORS))
    assert found.keys() == TENSORS.keys()
    for name, array in TENSORS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_the_reference_implementation_reads_the_same(tmp_path):
    numpy_reader = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "w.safetensors"
    numpy_reader.save_file(TENSORS, path)
    for name, array in read_safetensors(path).items():
        np.testing.assert_array_equal(array, TENSORS[name])


@pytest.mark.parametrize("keep", [0, 5, 20, 200])
def test_a_cut_file_is_told(tmp_path, keep):
    path = write(tmp_path / "w.safetensors", TENSORS)
    path.write_bytes(path.read_bytes()[: min(keep, path.stat().st_size - 1)])
    with pytest.raises(StorageError, match=r"w\.safetensors is no whole safetensors file"):
        read_safetensors(path)


def test_a_header_that_points_outside_is_told(tmp_path):
    header = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 8)
    with pytest.raises(StorageError, match="shorter than its header says"):
        read_safetensors(path)
