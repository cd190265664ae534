"""Rows by id: of NumPy's arrays, mapped files, and torch's tensors on the CPU."""
import ctypes as c

import numpy as np

from . import _c


def _strides(rows):
    """In bytes."""
    return tuple(n * rows.element_size() for n in rows.stride()) if hasattr(rows, "data_ptr") else rows.strides


def can(rows):
    """Are these rows that gather copies? Any element type of an even number of bytes a row, one row behind the other or apart."""
    if hasattr(rows, "data_ptr"):
        if rows.is_nested or rows.device.type != "cpu" or rows.dim() == 0 or repr(rows.layout) != "torch.strided" or rows.is_quantized or rows.requires_grad or rows.is_conj() or rows.is_neg():
            return False
        size = rows.element_size()
    elif isinstance(rows, np.ndarray) and not isinstance(rows, np.ma.MaskedArray) and rows.ndim and rows.dtype.kind in "biufc":
        size = rows.itemsize
    else:
        return False
    strides = _strides(rows)
    for n, stride in zip(tuple(rows.shape)[:0:-1], strides[:0:-1]):
        if n != 1 and stride != size and len(rows):
            return False
        size *= n
    return 0 < size < 2 ** 31 and size % 2 == 0 and (len(rows) < 2 or (strides[0] >= size and strides[0] % (4 if size % 4 == 0 else 2) == 0))


def gather(rows, ids):
    """rows[ids], of the kind of rows, in memory that is used again when the result is gone. ids: int32 or int64, one dimension; IndexError:
    one is out of range. O(bytes), by all threads."""
    if not can(rows):
        raise TypeError(f"gather: rows of {type(rows).__name__} are not copied: an array or a CPU tensor whose rows lie in one piece each")
    ids = ids.detach().numpy() if hasattr(ids, "detach") else np.asarray(ids)
    ids = _c.array(np.ascontiguousarray(ids, np.int64 if ids.size == 0 else None), (np.int32, np.int64), "ids")
    tensor = hasattr(rows, "data_ptr")
    if not len(ids):
        return rows.new_empty((0, *rows.shape[1:])) if tensor else np.empty((0, *rows.shape[1:]), rows.dtype)
    size = rows.element_size() if tensor else rows.itemsize
    width = size * int(np.prod(rows.shape[1:], dtype=np.int64))
    pitch = width if len(rows) < 2 else _strides(rows)[0]
    at, unit = (rows.data_ptr() if tensor else rows.ctypes.data), 4 if width % 4 == 0 else 2
    out, bad = _c.empty(len(ids) * width, np.uint8), c.c_int64()
    status = _c.LIBRARIES[ids.dtype].ggnn_py_gather(out.ctypes.data, width // unit, 0 if unit == 4 else 1, at, len(rows), pitch, width // unit,
                                                    0 if unit == 4 else 1, ids.ctypes.data, len(ids), c.byref(bad))
    if status == 2:
        raise IndexError(f"id {ids[bad.value]} is not in [0, {len(rows)})")
    if status:
        raise ValueError(_c.LIBRARIES[ids.dtype].ggnn_py_status(status).decode())
    shape = (len(ids), *rows.shape[1:])
    if tensor:
        import torch
        return torch.from_numpy(out).view(rows.dtype).view(shape)
    return out.view(rows.dtype).reshape(shape)
