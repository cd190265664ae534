"""training.py - the training loops that the rivals' rows share: steps of mini-batches, Cora's epochs."""

import time

import numpy as np

STEPS, QUICK_STEPS = 8, 3
CORA = {
    "gcn": dict(hidden=16, lr=0.01, decay=5e-4, dropout=0.5),
    "gat": dict(hidden=8, lr=0.005, decay=5e-4, dropout=0.6),
}


def train_steps(task, torch, model, batches, forward):
    """Median of a step: the next batch sampled and gathered, forward, loss, backward, Adam. batches yields
    what forward(batch) takes and returns logits and labels of."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    source, state = iter(batches), {}
    model.train()

    def step():
        logits, label = forward(next(source))
        loss = torch.nn.functional.cross_entropy(logits, label)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        state.setdefault("losses", []).append(loss.detach())

    for _ in range(2):
        step()
    samples = []
    for _ in range(QUICK_STEPS if task.quick else STEPS):
        task.sync()
        start = time.perf_counter()
        step()
        task.sync()
        samples.append(time.perf_counter() - start)
    losses = [float(x) for x in state["losses"]]
    if not np.isfinite(losses).all():
        task.result["wrong"] = "the loss is not finite"
    task.result.update(
        seconds=float(np.median(samples)), samples=samples, work=1.0, unit="steps", loss=losses[-1]
    )


def train_cora(task, torch, model, logits_of, kind):
    """200 epochs of the whole graph, then the test accuracy: what is timed is the loop; the driver times
    the process."""
    how, g = CORA[kind], task.graph
    label = torch.from_numpy(g.label.astype(np.int64)).to(task.device)
    train, test = (torch.from_numpy(g.ids(part)).to(task.device) for part in (1, 3))
    optimiser = torch.optim.Adam(model.parameters(), lr=how["lr"], weight_decay=how["decay"])
    epochs = 20 if task.quick else 200
    start = time.perf_counter()
    for _ in range(epochs):
        model.train()
        loss = torch.nn.functional.cross_entropy(logits_of()[train], label[train])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval()
    with torch.inference_mode():
        right = (logits_of()[test].argmax(1) == label[test]).float().mean()
    task.sync()
    seconds = time.perf_counter() - start
    task.result.update(seconds=seconds, samples=[seconds], work=1.0, unit="trainings", accuracy=float(right))
    if not task.quick and float(right) < 0.78:
        task.result["wrong"] = f"test accuracy {float(right):.3f}"
