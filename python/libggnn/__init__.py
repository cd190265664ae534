"""Graph sampling and GNN kernels of ggnn.h for NumPy, PyTorch, PyG and DGL.

Graph, Sampler      neighbour sampling, PyG's meaning of a hop: disjoint, by time, weighted, over several types
from_edge_index     a Graph of one type, of sources and targets
open                a .ggnn file's arrays, mapped
gather              rows by id, of arrays, mapped files and tensors
libggnn.torch       SpMM, SDDMM, softmax, attention under autograd; SAGEConv, GCNConv, GATConv
libggnn.pyg         NeighborLoader and LinkNeighborLoader with PyG's signatures; install() puts it under PyG's own
libggnn.dgl         NeighborSampler for DGL's DataLoader
python -m libggnn.check     what is installed, and a batch
python -m libggnn.export    Parquet, .pt and GraphBolt's folders as .npy, for ggnn-data
"""
from ._c import VERSION as __version__
from ._c import get_num_threads, set_num_threads
from .file import open
from .rows import gather
from .sampler import EDGES, Graph, Sampled, Sampler, from_edge_index

__all__ = ["EDGES", "Graph", "Sampled", "Sampler", "from_edge_index", "gather", "get_num_threads", "open", "set_num_threads", "__version__"]
