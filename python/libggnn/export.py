"""python -m libggnn.export: files of other Python tools as a folder of .npy, which `ggnn-data convert FOLDER F.ggnn` reads.

    pt FILE.pt OUT             PyTorch Geometric's processed data, or a dict of tensors
    parquet FILE OUT           a table of edges: --src and --dst name its columns
    graphbolt FOLDER OUT       GraphBolt's data set on disk: metadata.yaml, one type of nodes and edges

OUT is a new folder: edge_index.npy, and feat.npy, label.npy, train.npy, val.npy, test.npy, edge_attr.npy where the input has them.
It is written beside, and gets its name when it is whole.
"""
import argparse
import csv
import os
import pickle
import shutil
import sys
import tempfile

import numpy as np

PYG = {"edge_index": "edge_index", "x": "feat", "y": "label", "train_mask": "train", "val_mask": "val", "test_mask": "test", "edge_attr": "edge_attr"}


class Refused(Exception):
    """What a file has that is not exported, in a sentence."""


def load_array(path):
    """A .npy, mapped. An array of objects would run code: np.load refuses it here."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise Refused(f"{path}: {error}")


def read_pt(path, trust):
    try:
        import torch
    except ImportError:
        raise Refused("torch is not installed, which reads .pt files")
    safe = []
    if "torch_geometric" in sys.modules or __import__("importlib.util").util.find_spec("torch_geometric"):
        from torch_geometric.data import Data
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import GlobalStorage
        safe = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
    try:
        if trust:
            content = torch.load(path, map_location="cpu", weights_only=False)
        else:
            with torch.serialization.safe_globals(safe):
                content = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, AttributeError) as error:
        raise Refused(f"{path}: {str(error).splitlines()[0]} (without --trust-pickle a .pt has tensors and PyG's Data alone)")
    if isinstance(content, (tuple, list)) and content:  # (data, slices, ...) of an InMemoryDataset
        content = content[0]
    content = content.to_dict() if hasattr(content, "to_dict") else content
    if not isinstance(content, dict) or "edge_index" not in content:
        raise Refused(f"{path}: no data with an edge_index: {type(content).__name__}")
    return {name: content[key].numpy() for key, name in PYG.items() if hasattr(content.get(key), "numpy")}


def read_parquet(path, src, dst):
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise Refused("pyarrow is not installed, which reads Parquet: pip install pyarrow")
    table = parquet.ParquetFile(path)
    for column in (src, dst):
        if column not in table.schema_arrow.names:
            raise Refused(f"{path}: no column {column}: it has {', '.join(table.schema_arrow.names)}")
    edges, at = np.empty((2, table.metadata.num_rows), np.int64), 0
    for batch in table.iter_batches(columns=[src, dst]):
        for row, column in enumerate((src, dst)):
            values = batch.column(batch.schema.get_field_index(column))
            if values.null_count:
                raise Refused(f"{path}: column {column} has empty places")
            values = values.to_numpy(zero_copy_only=False)
            if values.dtype.kind not in "iu":
                raise Refused(f"{path}: column {column} is {values.dtype}: ids are whole numbers")
            edges[row, at:at + len(values)] = values
        at += batch.num_rows
    return {"edge_index": edges}


def read_graphbolt(folder):
    try:
        import yaml
    except ImportError:
        raise Refused("PyYAML is not installed, which reads metadata.yaml: pip install pyyaml")
    with open(os.path.join(folder, "metadata.yaml")) as file:
        try:
            about = yaml.safe_load(file)
        except yaml.YAMLError as error:
            raise Refused(f"{folder}/metadata.yaml: {' '.join(str(error).split())}")

    def only(items, what):
        if not isinstance(items, list) or len(items) != 1 or items[0].get("type"):
            raise Refused(f"{folder}: {what} of several types are not exported, or there are none")
        return items[0]

    def read(item):
        path = os.path.join(folder, item["path"])
        if item.get("format") == "numpy":
            return load_array(path)
        with open(path, newline="") as file:
            try:
                return np.array([[int(cell) for cell in line] for line in csv.reader(file)], np.int64)
            except ValueError as error:
                raise Refused(f"{path}: {error}")

    try:
        nodes, edges = only(about["graph"]["nodes"], "nodes")["num"], read(only(about["graph"]["edges"], "edges"))
        arrays = {"edge_index": edges if edges.shape[0] == 2 and edges.shape[1] != 2 else edges.T}
        for item in about.get("feature_data") or []:
            if item.get("domain") == "node" and not item.get("type") and item.get("name") == "feat":
                arrays["feat"] = read(item)
        label = np.full(nodes, -1, np.int64)
        task = (about.get("tasks") or [{}])[0]
        for kind, name in (("train_set", "train"), ("validation_set", "val"), ("test_set", "test")):
            for part in task.get(kind) or []:
                data = {d["name"]: read(d) for d in part["data"]}
                seeds = np.asarray(data["seeds"] if "seeds" in data else data["seed_nodes"])
                if seeds.ndim != 1 and seeds.shape[1:] != (1,):
                    raise Refused(f"{folder}: seeds of {kind} are {seeds.shape}: pairs of nodes are not exported")
                seeds = arrays[name] = seeds.reshape(-1)
                if "labels" in data:
                    if np.asarray(data["labels"]).dtype.kind not in "biu":
                        raise Refused(f"{folder}: labels of {kind} are {data['labels'].dtype}: classes are whole numbers")
                    label[seeds] = np.asarray(data["labels"]).reshape(-1)
                    arrays["label"] = label
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise Refused(f"{folder}/metadata.yaml: {error} is missing or of another kind")
    if len(arrays.get("feat", label)) != nodes:
        raise Refused(f"{folder}: {len(arrays['feat'])} rows of features for {nodes} nodes")
    return arrays


def write(arrays, out):
    edges = arrays["edge_index"]
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise Refused(f"edge_index is {edges.shape} of {edges.dtype}, not (2, edges) of whole numbers")
    if os.path.exists(out):
        raise Refused(f"{out}: is there already")
    aside = tempfile.mkdtemp(prefix=".export-", dir=os.path.dirname(os.path.abspath(out)))
    try:
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise Refused(f"{name} is {array.dtype}: no numbers")
            if name == "label" and array.ndim == 2 and array.shape[1] == 1:
                array = array.reshape(-1)
            np.save(os.path.join(aside, name + ".npy"), array, allow_pickle=False)
            print(f"{name}: {array.dtype} {array.shape}")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o777 & ~mask)
        os.rename(aside, out)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m libggnn.export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="pt|parquet|graphbolt")
    for kind in ("pt", "parquet", "graphbolt"):
        one = kinds.add_parser(kind)
        one.add_argument("input")
        one.add_argument("out")
        if kind == "pt":
            one.add_argument("--trust-pickle", action="store_true", help="load objects of any class: this RUNS what the file says. For files of your own making alone")
        if kind == "parquet":
            one.add_argument("--src", required=True, help="the column of sources")
            one.add_argument("--dst", required=True, help="the column of targets")
    how = parser.parse_args(words)
    try:
        arrays = (read_pt(how.input, how.trust_pickle) if how.kind == "pt" else read_parquet(how.input, how.src, how.dst) if how.kind == "parquet"
                  else read_graphbolt(how.input))
        write(arrays, how.out)
    except (Refused, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
