"""The two libraries, for ids of 32 and of 64 bits, and the checks before an array reaches them."""
import ctypes as c
import os
import threading

import numpy as np

VERSION = "0.3.0"
METHODS = {"fisher-yates": 0, "path-doubling": 1, "rejection": 2, "reservoir": 3, "weighted": 4, "replacement": 5}


class Relation(c.Structure):
    _fields_ = [("num_dst", c.c_int64), ("num_src", c.c_int64), ("num_edges", c.c_int64), ("indptr", c.c_void_p), ("indices", c.c_void_p),
                ("weight", c.c_void_p), ("time", c.c_void_p), ("src", c.c_int64), ("dst", c.c_int64)]


class Block(c.Structure):
    _fields_ = [("num_dst", c.c_int64), ("num_src", c.c_int64), ("num_edges", c.c_int64), ("indptr", c.c_void_p), ("indices", c.c_void_p),
                ("edge", c.c_void_p)]


def _load(bits):
    name = f"libggnn{bits}.so"
    path = os.path.join(os.environ.get("LIBGGNN_FOLDER", os.path.dirname(__file__)), name)
    lib = c.CDLL(path)  # RTLD_LOCAL: both have the same names
    lib.ggnn_py_version.restype = lib.ggnn_py_status.restype = lib.ggnn_py_message.restype = lib.ggnn_py_method.restype = c.c_char_p
    lib.ggnn_py_size.restype = c.c_int64
    version = lib.ggnn_py_version().decode()
    sizes = [lib.ggnn_py_size(i) for i in range(3)]
    if version != VERSION or sizes != [bits // 8, c.sizeof(Relation), c.sizeof(Block)]:
        raise ImportError(f"{path} is of another build: version {version}, sizes {sizes}; this package is {VERSION}: install it again")
    if any(lib.ggnn_py_method(number) != name.encode() for name, number in METHODS.items()):
        raise ImportError(f"{path} has other samplers")
    lib.ggnn_py_sampler_new.restype = c.c_void_p
    lib.ggnn_py_sampler_new.argtypes = [c.c_int32, c.c_void_p, c.c_void_p, c.c_int32, c.c_void_p, c.c_int32, c.c_int32, c.c_int32, c.c_int32]
    lib.ggnn_py_sampler_free.argtypes = [c.c_void_p]
    lib.ggnn_py_sampler_free.restype = lib.ggnn_py_nodes.restype = lib.ggnn_py_edges.restype = lib.ggnn_py_set_threads.restype = None
    lib.ggnn_py_message.argtypes = [c.c_void_p]
    lib.ggnn_py_sample.argtypes = [c.c_void_p, c.c_uint64, c.c_uint32, c.c_int32] + [c.c_void_p] * 6
    lib.ggnn_py_nodes.argtypes = [c.c_void_p, c.c_int32, c.c_void_p, c.c_void_p]
    lib.ggnn_py_edges.argtypes = [c.c_void_p, c.c_int32, c.c_void_p, c.c_void_p, c.c_void_p]
    lib.ggnn_py_check.argtypes = [c.POINTER(Relation), c.POINTER(c.c_int64), c.POINTER(c.c_int64)]
    lib.ggnn_py_from_coo.argtypes = [c.c_void_p] * 5 + [c.c_int64, c.c_int64, c.POINTER(c.c_int64)]
    lib.ggnn_py_set_threads.argtypes = [c.c_int]
    p, i32, i64, block = c.c_void_p, c.c_int32, c.c_int64, c.POINTER(Block)
    lib.ggnn_py_gather.argtypes = [p, i64, c.c_int, p, i64, i64, i32, c.c_int, p, i64, c.POINTER(i64)]
    lib.ggnn_py_block_check.argtypes = [block]
    lib.ggnn_py_transpose.argtypes = [block, p, p, p]
    lib.ggnn_py_spmm.argtypes = [p, p, c.c_int, block, p, p, p, p, i32, p, i32]
    lib.ggnn_py_spmm_back_arg.argtypes = [p, block, block, p, i32, p, p, i32]
    lib.ggnn_py_sddmm.argtypes = [p, c.c_int, block, p, p, i32, i32]
    lib.ggnn_py_edge_sum.argtypes = lib.ggnn_py_softmax.argtypes = [p, block, p, i32]
    lib.ggnn_py_softmax_back.argtypes = [p, block, p, p, i32]
    attention = [p] * 5 + [i32, i32, c.c_float, c.c_float, c.c_uint64, c.c_uint32]
    lib.ggnn_py_gat.argtypes = [block] + attention
    lib.ggnn_py_gat_back.argtypes = [p, p, p, block, block] + attention[:5] + [p] + attention[5:]
    return lib


LIBRARIES = {np.dtype(np.int32): _load(32), np.dtype(np.int64): _load(64)}


def set_num_threads(threads):
    """Threads that work on one call, beside those of the caller's own making: 1 or more."""
    if threads < 1:
        raise ValueError(f"set_num_threads({threads}): at least 1")
    for lib in LIBRARIES.values():
        lib.ggnn_py_set_threads(threads)


def get_num_threads():
    return LIBRARIES[np.dtype(np.int64)].ggnn_py_threads()


def array(x, dtype, name, length=None):
    """x as a NumPy array that C can read where it lies: NumPy's, torch's, or what has __array__. Nothing is copied or cast."""
    if x is None:
        return None
    a = x.detach().numpy() if hasattr(x, "detach") else np.asarray(x)
    wanted = [np.dtype(d) for d in (dtype if isinstance(dtype, tuple) else (dtype,))]
    if a.ndim != 1:
        raise ValueError(f"{name} has {a.ndim} dimensions, not one")
    if a.dtype not in wanted:
        raise TypeError(f"{name} is {a.dtype}, not {' or '.join(map(str, wanted))}: {name}.astype(np.{wanted[-1]})")
    if not a.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous: np.ascontiguousarray({name})")
    if length is not None and len(a) != length:
        raise ValueError(f"{name} has {len(a)} elements, not {length}")
    return a


# ---- outputs: memory that is used again --------------------------------------------
# A fresh page costs several times what is then written into it. So the memory of a large output is kept when the last array and
# tensor over it is gone, and given to the next one.

KEEP_BYTES = int(os.environ.get("LIBGGNN_KEEP_BYTES", 1 << 30))
_kept, _kept_bytes, _kept_lock = {}, 0, threading.RLock()  # a lease may die while this thread has it


class _Lease:
    """What an output's array has as its base; it dies with the last view of it."""
    __slots__ = ("raw", "__array_interface__")

    def __init__(self, raw, shape, dtype):
        self.raw = raw
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": (raw.ctypes.data, False)}

    def __del__(self):
        global _kept_bytes
        size = len(self.raw)
        with _kept_lock:
            while _kept and _kept_bytes + size > KEEP_BYTES:  # sizes that came first make room
                first = next(iter(_kept))
                _kept_bytes -= first * len(_kept.pop(first))
            if _kept_bytes + size <= KEEP_BYTES:
                _kept.setdefault(size, []).append(self.raw)
                _kept_bytes += size


def _child():
    """After fork: another thread may have had the lock."""
    global _kept_lock
    _kept_lock = threading.RLock()


os.register_at_fork(after_in_child=_child)


def empty(shape, dtype):
    """np.empty, by memory that was used before where there is some."""
    global _kept_bytes
    shape, dtype = (shape if isinstance(shape, tuple) else (shape,)), np.dtype(dtype)
    wanted = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if wanted < 1 << 16:
        return np.empty(shape, dtype)
    step = 1 << (wanted.bit_length() - 3)  # sizes at most a quarter apart
    size = -(-wanted // step) * step
    with _kept_lock:
        raw = _kept[size].pop() if _kept.get(size) else None
        if raw is not None:
            _kept_bytes -= size
    return np.asarray(_Lease(np.empty(size, np.uint8) if raw is None else raw, shape, dtype))


def address(a):
    return None if a is None else a.ctypes.data


set_num_threads(int(os.environ.get("LIBGGNN_NUM_THREADS", 0)) or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))
