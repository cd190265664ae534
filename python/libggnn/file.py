"""Arrays of a .ggnn file, mapped: read where they lie, a page at a time. The format is described in datasets/ggnn_file.h.

read_table needs the standard library alone; open has NumPy's arrays."""
import mmap
import struct
from collections import namedtuple

MAGIC, DATA, ALIGN = b"\x89GGNN\r\n\x1a", 8192, 4096
HEADER = struct.Struct("<8sIIqII")  # magic, version, sections, bytes of the file, zero, CRC-32C
ENTRY = struct.Struct("<16sII4qqqII")  # name, type, dimensions, dimension[4], offset, bytes, CRC-32C, zero
TYPES = {1: ("u1", 1), 2: ("<i4", 4), 3: ("<i8", 8), 4: ("<f2", 2), 5: ("<f4", 4), 6: ("<f8", 8)}  # NumPy's name, bytes

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
    """{name: Section} of a file's bytes. ValueError: it is not a .ggnn file, or its table says what cannot be."""
    if len(data) < DATA or bytes(data[:8]) != MAGIC:
        raise ValueError("not a .ggnn file")
    _, version, count, length, _, crc = HEADER.unpack_from(data, 0)
    end = HEADER.size + count * ENTRY.size
    if version != 1 or length != len(data) or end > DATA:
        raise ValueError(f"version {version}, {count} arrays, {length} bytes: of {len(data)} bytes, and version 1 is read")
    if crc32c(data[HEADER.size:end], crc32c(data[:28])) != crc:
        raise ValueError("the table's checksum is wrong")
    sections = {}
    for i in range(count):
        name, kind, dims, *rest = ENTRY.unpack_from(data, HEADER.size + i * ENTRY.size)
        shape, (offset, size, crc, _) = tuple(rest[:dims]), rest[4:]
        name = name.rstrip(b"\0").decode("ascii", "replace")
        if kind not in TYPES:  # of a later version
            continue
        dtype, items = TYPES[kind]
        for n in shape:
            items *= n
        if dims > 4 or min(shape, default=0) < 0 or items != size or offset % ALIGN or offset < DATA or offset + size > length:
            raise ValueError(f"array {name} of shape {shape} does not lie in the file")
        if name in sections or 0 in shape and max(shape) > length:
            raise ValueError(f"array {name} of shape {shape} is there twice, or cannot be")
        sections[name] = Section(name, dtype, shape, offset, size, crc)
    return sections


def open(path):
    """{name: array} of the file: indptr, indices, feat, label, split, ... ValueError: it is not a .ggnn file, or damaged. The arrays'
    checksums are not looked at: `ggnn-data verify` does."""
    import numpy as np
    from builtins import open
    with open(path, "rb") as file:
        try:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            sections = read_table(whole)
        except ValueError as why:  # mmap's, of an empty file, is one
            raise ValueError(f"{path}: {why}") from None
    return {name: np.frombuffer(whole, s.dtype, s.bytes // np.dtype(s.dtype).itemsize, s.offset).reshape(s.shape) for name, s in sections.items()}
