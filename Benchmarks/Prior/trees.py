"""Gradient boosting of complete binary trees over whole numbers: small, and quick to walk."""
import numpy as np
from numba import njit


@njit(cache=True)
def add_up(x, rows, leaf, gradient, weight, person, out, people):
    """By leaf, feature and cut: the sums of what lies there, and whose it is, a bit a person."""
    out[:] = 0
    people[:] = 0
    for k in range(len(rows)):
        row = rows[k]
        for f in range(x.shape[1]):
            out[leaf[row], f, x[row, f], 0] += gradient[row]
            out[leaf[row], f, x[row, f], 1] += weight[row]
            people[leaf[row], f, x[row, f]] |= person[row]


@njit(cache=True)
def count_bits(word):
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit(cache=True)
def are_enough(people, cut, least_people):
    """Whether so many people lie on either side of it."""
    left, right = people[0] & 0, people[0] & 0
    for c in range(cut + 1):
        left |= people[c]
    for c in range(cut + 1, len(people)):
        right |= people[c]
    return count_bits(left) >= least_people and count_bits(right) >= least_people


@njit(cache=True)
def best_splits(sums, people, allowed, ridge, least, least_people):
    """For each leaf the feature and cut with the highest gain; none: everything goes left."""
    leaves, features, cuts = sums.shape[0], sums.shape[1], sums.shape[2]
    feature, cut = np.zeros(leaves, np.int64), np.full(leaves, cuts - 1)
    for l in range(leaves):
        g, w = sums[l, 0, :, 0].sum(), sums[l, 0, :, 1].sum()
        most = 1e-9
        for f in range(features):
            if not allowed[f]:
                continue
            left, left_weight = 0.0, 0.0
            for c in range(cuts - 1):
                left += sums[l, f, c, 0]
                left_weight += sums[l, f, c, 1]
                if left_weight < least or w - left_weight < least:
                    continue
                right = g - left
                gain = left * left / (left_weight + ridge) - g * g / (w + ridge)
                gain += right * right / (w - left_weight + ridge)
                if gain > most and are_enough(people[l, f], c, least_people):
                    most, feature[l], cut[l] = gain, f, c
    return feature, cut


@njit(cache=True)
def descend(x, leaf, feature, cut):
    for i in range(len(leaf)):
        l = leaf[i]
        leaf[i] = 2 * l + (1 if x[i, feature[l]] > cut[l] else 0)


@njit(cache=True)
def walk(x, feature, threshold, value, depth):
    """The sum of all trees; node 0 is the root, node n has the children 2n+1 and 2n+2."""
    out = np.zeros(len(x), np.int64)
    inner = (1 << depth) - 1
    for i in range(len(x)):
        total = 0
        for t in range(len(value)):
            n = 0
            for _ in range(depth):
                n = 2 * n + (2 if x[i, feature[t, n]] > threshold[t, n] else 1)
            total += value[t, n - inner]
        out[i] = total
    return out


class Trees:
    """log odds = (start + sum of the leaves) / 4096"""

    scale = 4096
    # So that no value tells of one person, or of a few.
    least_people = 5

    def __init__(self, count=100, depth=4, rate=0.1, ridge=5.0, least=20.0, columns=0.5, seed=0):
        self.count, self.depth, self.rate = count, depth, rate
        self.ridge, self.least, self.columns, self.seed = ridge, least, columns, seed

    def fit(self, x, y, person):
        """`person`: by row, whose it is, a number from 0. More than 64 share their bits, so that
        they are counted as fewer than they are."""
        bits = np.uint64(1) << (person % 64).astype(np.uint64)
        random = np.random.default_rng(self.seed)
        some = x[random.choice(len(x), min(len(x), 100_000), replace=False)]
        share = np.arange(1, 64) / 64
        edges = [np.unique(np.floor(np.quantile(column, share))) for column in some.T]
        cut = np.column_stack([np.searchsorted(e, c, "left") for e, c in zip(edges, x.T)])
        cut = cut.astype(np.uint8)
        self.start = int(round(np.log(y.mean() / (1 - y.mean())) * self.scale))
        odds = np.full(len(y), self.start / self.scale)
        nodes = (1 << self.depth) - 1
        self.feature = np.zeros((self.count, nodes), np.int64)
        self.threshold = np.full((self.count, nodes), np.iinfo(np.int32).max, np.int64)
        self.value = np.zeros((self.count, nodes + 1), np.int64)
        for tree in range(self.count):
            p = 1 / (1 + np.exp(-odds))
            gradient, weight = y - p, p * (1 - p)
            rows = np.flatnonzero(random.random(len(y)) < 0.5)
            allowed = random.random(x.shape[1]) < self.columns
            allowed[0] = True
            leaf = np.zeros(len(y), np.int64)
            for level in range(self.depth):
                first = (1 << level) - 1
                sums = np.zeros((1 << level, x.shape[1], 64, 2))
                people = np.zeros((1 << level, x.shape[1], 64), np.uint64)
                add_up(cut, rows, leaf, gradient, weight, bits, sums, people)
                feature, place = best_splits(
                    sums, people, allowed, self.ridge, self.least, self.least_people
                )
                descend(cut, leaf, feature, place)
                for l, (f, c) in enumerate(zip(feature, place)):
                    self.feature[tree, first + l] = f
                    if c < len(edges[f]):
                        self.threshold[tree, first + l] = int(edges[f][c])
            g = np.bincount(leaf[rows], gradient[rows], nodes + 1)
            w = np.bincount(leaf[rows], weight[rows], nodes + 1)
            value = np.round(self.rate * g / (w + self.ridge) * self.scale)
            self.value[tree] = value.astype(np.int64)
            odds += self.value[tree][leaf] / self.scale
        return self

    def chance(self, x):
        total = self.start + walk(x, self.feature, self.threshold, self.value, self.depth)
        return 1 / (1 + np.exp(-total / self.scale))
