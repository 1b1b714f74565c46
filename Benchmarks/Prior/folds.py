#!/usr/bin/env python3
"""Writes, for each third of the people, a prior that has not seen them, and their logs alone:

    USAGE='../shared/data/usage/*/events.csv.gz' venv/bin/python Benchmarks/Prior/folds.py OUT

An `offstage` built with OUT/0/PriorTrees.swift is measured on 'OUT/0/*/events.csv.gz', and so on;
what is printed here, the opens that count, is the weight of each third.
"""
import csv
import glob
import gzip
import os
import sys

import numpy as np

import fit
import usage
from trees import Trees


def opens(log):
    """Those that count, in the last third."""
    count = 0
    for one in log.series:
        unused = one.starts[1:] - one.ends[:-1]
        count += np.sum((unused > usage.FRESH) & (one.starts[1:] >= log.split * 86400.0))
    return count


def pick(source, target, users):
    with gzip.open(source, "rt", newline="") as file:
        head, *rows = csv.reader(file)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with gzip.open(target, "wt", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(row for row in rows if row[0] in users)


def main():
    pattern, out = os.environ["USAGE"], sys.argv[1]
    prepared = [
        (key, usage.prepare(*key, found)) for key, found in sorted(usage.read(pattern).items())
    ]
    known = [(key, log) for key, log in prepared if log]
    folds = fit.folds(len(known))
    for fold in range(3):
        seen = [log for (_, log), at in zip(known, folds) if at != fold]
        unseen = [(key, log) for (key, log), at in zip(known, folds) if at == fold]
        folder = os.path.join(out, str(fold))
        for source in sorted(glob.glob(pattern)):
            data = os.path.basename(os.path.dirname(source))
            users = {user for (of, user), _ in unseen if of == data}
            pick(source, os.path.join(folder, data, os.path.basename(source)), users)
        with open(os.path.join(folder, "PriorTrees.swift"), "w") as file:
            file.write(fit.swift(Trees().fit(*fit.table(seen))))
        print("%d: %d people, %d opens" % (fold, len(unseen), sum(opens(log) for _, log in unseen)))


if __name__ == "__main__":
    main()
