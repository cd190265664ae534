"""Arrays of a .ggnn file, mapped: read where they lie, a page at a time."""
import os
import struct

import numpy as np

_TYPES = {1: np.uint8, 2: np.int32, 3: np.int64, 4: np.float16, 5: np.float32, 6: np.float64}
_MAGIC = b"\x89GGNN\r\n\x1a"


def open(path):
    """{name: array} of the file: indptr, indices, feat, label, split_*, ... ValueError: it is not a .ggnn file, or its table says what
    cannot be. Checksums are not looked at: `ggnn-data verify` does."""
    size = os.path.getsize(path)
    whole = np.memmap(path, np.uint8, "r") if size else np.empty(0, np.uint8)
    if size < 8192 or bytes(whole[:8]) != _MAGIC:
        raise ValueError(f"{path}: not a .ggnn file")
    version, sections, length = struct.unpack("<IIq", whole[8:24].tobytes())
    if version != 1 or sections > 100 or length != size:
        raise ValueError(f"{path}: version {version}, {sections} arrays, {length} bytes: of {size} bytes, and this package reads version 1")
    arrays = {}
    for i in range(sections):
        name, kind, dims, *shape, at, count = struct.unpack("<16sII4qqq", whole[32 + 80 * i:104 + 80 * i].tobytes())
        name, shape = name.rstrip(b"\0").decode("ascii", "replace"), shape[:dims]
        if kind not in _TYPES:
            continue
        element = np.dtype(_TYPES[kind])
        if dims > 4 or any(n < 0 for n in shape) or at % 4096 or at < 8192 or count < 0 or at + count > size or int(np.prod(shape, dtype=object)) * element.itemsize != count:
            raise ValueError(f"{path}: array {name} of shape {tuple(shape)} does not lie in the file")
        arrays[name] = whole[at:at + count].view(element).reshape(shape) if count else np.empty(shape, element)
    return arrays
