"""Graph sampling and GNN kernels of ggnn.h for NumPy, PyTorch, PyG and DGL.

Graph, Sampler      neighbour sampling, PyG's meaning of a hop: disjoint, by time, weighted, over several types
libggnn.pyg         NeighborLoader and LinkNeighborLoader with PyG's signatures; install() puts it under PyG's own
python -m libggnn.check     what is installed, and a batch
"""
from ._c import VERSION as __version__
from ._c import get_num_threads, set_num_threads
from .sampler import Graph, Sampled, Sampler

__all__ = ["Graph", "Sampled", "Sampler", "get_num_threads", "set_num_threads", "__version__"]
