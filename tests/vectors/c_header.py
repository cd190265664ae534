"""What the two make_*_vectors.py scripts share: exact inputs, arrays as C text, and central differences."""
import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Inputs:
    """Multiples of 1/64 (so floats hold them exactly) from splitmix64: the same numbers under every torch version."""

    def __init__(self, seed):
        self.state = seed

    def word(self):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def tensor(self, *shape, low=-1.0, high=1.0):
        """Uniform over the multiples of 1/64 in [low, high]."""
        steps = int(round((high - low) * 64)) + 1
        count = torch.Size(shape).numel()
        return torch.tensor([low + (self.word() % steps) / 64 for _ in range(count)]).reshape(shape)


def c_array(name, values, kind="double"):
    """static const KIND NAME[...] = {...}; flat, row-major, 12 significant digits (exact for inputs and integers).

    What should cancel to zero is printed as zero: its rounding would differ from one processor to the next.
    """
    flat = torch.as_tensor(values).detach().reshape(-1).tolist()
    texts = ["%d" % v if kind.startswith("int") else "%.12g" % (v if abs(v) > 1e-14 else 0) for v in flat]
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) + 2 > 116:
            lines.append(line)
            line = "   "
        line += " " + text + ","
    lines.append(line)
    return "static const %s %s[%d] = {\n%s\n};\n" % (kind, name, len(flat), "\n".join(lines))


def check_gradient(what, loss_of, parameter, gradient, step=1e-5, tolerance=1e-7):
    """Central differences of loss_of() in every entry of `parameter` against `gradient`."""
    flat = parameter.data.reshape(-1)
    for i in range(flat.numel()):
        kept = flat[i].item()
        flat[i] = kept + step
        above = loss_of().item()
        flat[i] = kept - step
        below = loss_of().item()
        flat[i] = kept
        slope = (above - below) / (2 * step)
        error = abs(slope - gradient.reshape(-1)[i].item())
        assert error <= tolerance * (1 + abs(slope)), (what, i, slope, gradient.reshape(-1)[i].item())
