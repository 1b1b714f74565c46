#!/usr/bin/env python3
"""Fits the prior that ships with the daemon: Sources/DeviceCore/Prediction/PriorTrees.swift.

    python3 -m venv venv && venv/bin/pip install numpy==2.* numba
    USAGE='../shared/data/usage/*/events.csv.gz' venv/bin/python Benchmarks/Prior/fit.py [--try]

Fits on the first two thirds of each log and prints the freshness on the last third. With --try it
looks at the first two thirds alone: fits on the first two thirds of these, and measures on the rest
of them, for users that were fitted on and, by threefold cross validation, for users that were not;
that is what choices are made by.
"""
import os
import sys

import numpy as np

import protocol
import usage
from trees import Trees

TARGET = "Sources/DeviceCore/Prediction/PriorTrees.swift"


def rows(log, series):
    """What is fitted on: stale content, from the sixth day on, before what is measured."""
    return np.flatnonzero(series.stale & (log.day >= 5) & (log.day < log.split))


def table(logs):
    picked = [
        (series, rows(log, series), person)
        for person, log in enumerate(logs)
        for series in log.series
    ]
    x = np.vstack([series.x[some] for series, some, _ in picked])
    y = np.concatenate([series.y[some] for series, some, _ in picked])
    return x, y, np.concatenate([np.full(len(some), person) for _, some, person in picked])


def folds(count):
    """By person: which of three."""
    return np.random.default_rng(1).permutation(count) % 3


def cross_validated(logs, make):
    fold = folds(len(logs))
    for k in range(3):
        model = make().fit(*table([log for log, f in zip(logs, fold) if f != k]))
        for log in [log for log, f in zip(logs, fold) if f == k]:
            for series in log.series:
                series.unseen = model.chance(series.x)


def list_of(name, kind, numbers):
    lines, current = [], " " * 7
    for number in numbers:
        word = " %d," % number
        if len(current) + len(word) > 100:
            lines.append(current)
            current = " " * 7
        current += word
    lines.append(current)
    return "    static let %s: [%s] = [\n%s\n    ]\n" % (name, kind, "\n".join(lines))


def swift(model):
    edge = np.minimum(model.threshold, 2**31 - 1)
    return (
        "// Made by Benchmarks/Prior/fit.py; docs/prediction.md says from what.\n\n"
        "/// Complete binary trees of whole numbers, one after the other: `Prior` walks them.\n"
        "enum PriorTrees {\n"
        "    static let depth = %d\n    static let count = %d\n" % (model.depth, model.count)
        + "    /// Log odds are sums of `start` and a value of each tree, in 1/%d.\n" % model.scale
        + "    static let scale = %d.0\n    static let start: Int32 = %d\n\n"
        % (model.scale, model.start)
        + "    /// By node: the feature that is looked at, an index of `UseFeatures.Name`.\n"
        + list_of("features", "UInt8", model.feature.ravel())
        + "    /// By node: above it the way goes to the second child.\n"
        + list_of("thresholds", "Int32", edge.ravel())
        + "    /// By leaf.\n"
        + list_of("values", "Int16", model.value.ravel())
        + "}\n"
    )


def main():
    if "USAGE" not in os.environ:
        sys.exit("fit.py: USAGE names no logs: set it to a pattern such as 'logs/*/events.csv.gz'")
    logs = usage.read(os.environ["USAGE"])
    if not logs:
        sys.exit("fit.py: USAGE='%s' matches no logs" % os.environ["USAGE"])
    trying = "--try" in sys.argv
    part, least = (2 / 3, 7) if trying else (1.0, 10)
    logs = [usage.prepare(*key, found, part, least) for key, found in sorted(logs.items())]
    logs = [log for log in logs if log]
    print(protocol.line("habit (no prior)", protocol.measure(logs, lambda s: s.habit)), flush=True)
    model = Trees().fit(*table(logs))
    results = protocol.measure(logs, lambda s: model.chance(s.x))
    print(protocol.line("trees", results), flush=True)
    if trying:
        cross_validated(logs, Trees)
        results = protocol.measure(logs, lambda s: s.unseen)
        print(protocol.line("trees, users not seen", results), flush=True)
    else:
        with open(TARGET, "w") as file:
            file.write(swift(model))


if __name__ == "__main__":
    main()
