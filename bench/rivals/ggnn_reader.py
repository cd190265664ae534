"""ggnn_reader.py - reads a .ggnn file in place: its table with the standard library, its arrays as NumPy's.

    with Ggnn("cora.ggnn") as f:
        f.section["feat"].shape, f.array("feat")[0]

The format is described at the top of datasets/ggnn_file.h. An array is a view of the mapped file, read-only.
"""

import mmap
import struct
from collections import namedtuple

MAGIC = b"\x89GGNN\r\n\x1a"
HEADER = struct.Struct("<8sIIqII")  # magic, version, sections, bytes of the file, zero, CRC-32C
ENTRY = struct.Struct("<16sII4qqqII")  # name, type, dimensions, dimension[4], offset, bytes, CRC-32C, zero
TYPES = {
    1: ("u1", 1),
    2: ("<i4", 4),
    3: ("<i8", 8),
    4: ("<f2", 2),
    5: ("<f4", 4),
    6: ("<f8", 8),
}  # NumPy's name, bytes

Section = namedtuple("Section", "name dtype shape offset bytes crc")


def crc32c(data, crc=0):
    """CRC-32C (Castagnoli), bit by bit: for tables, not for arrays."""
    state = ~crc & 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return ~state & 0xFFFFFFFF


def read_table(data):
    """The sections of a file's bytes, by name. ValueError: no such file, or damaged."""
    if len(data) < HEADER.size:
        raise ValueError("shorter than a header")
    magic, version, count, length, _, crc = HEADER.unpack_from(data, 0)
    if magic != MAGIC or version != 1:
        raise ValueError("not a .ggnn file of version 1")
    end = HEADER.size + count * ENTRY.size
    if length != len(data) or end > 8192:
        raise ValueError(f"{len(data)} bytes, {count} sections: truncated or damaged")
    if crc32c(data[HEADER.size : end], crc32c(data[:28])) != crc:
        raise ValueError("the table's checksum is wrong")
    sections = {}
    for i in range(count):
        name, kind, dims, *rest = ENTRY.unpack_from(data, HEADER.size + i * ENTRY.size)
        shape, (offset, size, crc, _) = tuple(rest[:dims]), rest[4:]
        name = name.rstrip(b"\0").decode("ascii")
        if kind not in TYPES:
            continue
        dtype, width = TYPES[kind]
        items = 1
        for d in shape:
            items *= d
        if items * width != size or offset < 8192 or offset + size > length:
            raise ValueError(f"section {name} does not lie in the file as its shape says")
        sections[name] = Section(name, dtype, shape, offset, size, crc)
    return sections


class Ggnn:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self.section = read_table(self.map)
        except ValueError as why:
            self.map.close()
            raise ValueError(f"{path}: {why}") from None

    def bytes(self, name):
        s = self.section[name]
        return memoryview(self.map)[s.offset : s.offset + s.bytes]

    def array(self, name):
        import numpy as np  # only who wants arrays needs it

        s = self.section[name]
        return np.frombuffer(self.map, s.dtype, s.bytes // np.dtype(s.dtype).itemsize, s.offset).reshape(
            s.shape
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.map.close()
