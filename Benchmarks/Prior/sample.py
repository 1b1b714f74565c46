#!/usr/bin/env python3
"""Prints the numbers of Tests/DeviceCoreTests/UsePriorTests.swift: features of a made-up log, and
the probabilities that the trees of Sources/DeviceCore/Prediction/PriorTrees.swift make of them."""
import re

import numpy as np

import usage
from trees import Trees, walk

FIRST = 738886 * 86400.0  # Monday, 2024-01-01
TIMES = [(11, 1), (14, 36), (17, 36), (17, 97), (17, 164), (17, 264), (17, 287)]


def rows():
    found = []
    for day in range(18):
        if day in (5, 6):
            continue
        uses = [("a", 480 + day * 7 % 20, 180), ("b", 490 + day * 7 % 20, 240)]
        if day % 3 != 0:
            uses.append(("a", 780 + day * 11 % 50, 60))
        if day % 2 == 0:
            uses.append(("c", 1200 + day * 13 % 60, 600))
        if day % 4 != 1:
            uses.append(("b", 1350 + day * 5 % 40, 30))
        if day % 6 == 2:
            uses.append(("a", 1430, 60))
        for app, minute, length in uses:
            found.append((FIRST + day * 86400.0 + minute * 60, "app", app, float(length)))
    return found


def shipped():
    text = open("Sources/DeviceCore/Prediction/PriorTrees.swift").read()

    def numbers(name):
        body = re.search(r"let %s: \[\w+\] = \[([^\]]*)\]" % name, text).group(1)
        return np.array([int(word) for word in body.replace(",", " ").split()])

    trees = Trees(depth=int(re.search(r"depth = (\d+)", text).group(1)))
    trees.start = int(re.search(r"start: Int32 = (-?\d+)", text).group(1))
    nodes = (1 << trees.depth) - 1
    trees.feature = numbers("features").reshape(-1, nodes)
    trees.threshold = numbers("thresholds").reshape(-1, nodes)
    trees.value = numbers("values").reshape(-1, nodes + 1)
    return trees


def main():
    log = usage.prepare("sample", "nobody", rows())
    trees = shipped()
    series = [usage.features(log, index) for index in range(3)]
    for day, bin_ in TIMES:
        at = np.flatnonzero((log.day == day) & (log.bin == bin_))[0]
        for name, one in zip("abc", series):
            words = ", ".join("%d" % value for value in one.x[at])
            chance = trees.chance(one.x[at : at + 1])[0]
            print("Row(%d, %d, .%s, %.9f, [%s])," % (day, bin_, name, chance, words))


if __name__ == "__main__":
    main()
