"""Writes shuffle_vectors.h: orders of epochs for ggnn_shuffle of ggnn.h to give.

    python3 make_shuffle_vectors.py > shuffle_vectors.h

Written from the contract alone; the Python library is all it needs. Philox4x32-10 as Salmon et al. 2011 define it, checked
against Random123's published answers; the counter's layout is cuRAND's: (block, step, node low 32,
purpose:8 | hop:8 | node high 16). The permutation is a balanced Feistel network of six rounds over the least even number of
bits, 8 or more, that holds n; results of n and above go through it again.
"""
MASK = 2**32 - 1
EPOCH_ORDER = 4  # the purpose


def philox(key, counter):
    x, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(b >> 32) ^ x[1] ^ k[0], b & MASK, (a >> 32) ^ x[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return x


def first_word(seed, epoch, node, block):
    return philox((seed & MASK, seed >> 32), (block, epoch, node & MASK, EPOCH_ORDER << 24 | node >> 32))[0]


def shuffle(seed, epoch, i, n):
    bits = max(8, (n - 1).bit_length())
    half = (bits + 1) // 2
    while True:
        left, right = i >> half, i & (2**half - 1)
        for block in range(6):
            left, right = right, (left ^ first_word(seed, epoch, right, block)) & (2**half - 1)
        i = left << half | right
        if i < n:
            return i


def check():
    pi = philox((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344))
    assert pi == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    for n in (1, 2, 10, 256, 257, 1000):
        assert sorted(shuffle(3, 4, i, n) for i in range(n)) == list(range(n))


# seed, epoch, n: sizes around the powers of four where the network grows, seeds and epochs at their limits.
CASES = [(1, 0, 10), (1, 1, 10), (2, 0, 10), (7, 3, 255), (7, 3, 256), (7, 3, 257), (7, 3, 1024), (7, 3, 1025),
         (42, 19, 196615), (2**32, 0, 1000), (2**64 - 1, 2**30 - 1, 1000), (0x0123456789ABCDEF, 99, 2**31 - 1),
         (5, 6, 2**31 + 5), (5, 6, 2**47 + 1)]


def main():
    check()
    print("/* shuffle_vectors.h - orders of epochs. Written by make_shuffle_vectors.py: change that. */")
    print("#ifndef SHUFFLE_VECTORS_H\n#define SHUFFLE_VECTORS_H\n#include <stdint.h>\n")
    print("/* to[k]: where the permutation of [0, n) takes k, for k < 5; last[k]: where it takes n - 1 - k, for k < 3 */")
    print("static const struct {\n    uint64_t seed;\n    uint32_t epoch;\n    int64_t n, to[5], last[3];\n} shuffle_vectors[] = {")
    for seed, epoch, n in CASES:
        to = ", ".join("%d" % shuffle(seed, epoch, i, n) for i in range(5))
        last = ", ".join("%d" % shuffle(seed, epoch, n - 1 - i, n) for i in range(3))
        print("    {UINT64_C(%d), %du, INT64_C(%d),\n     {%s}, {%s}}," % (seed, epoch, n, to, last))
    print("};\n#endif")


main()
