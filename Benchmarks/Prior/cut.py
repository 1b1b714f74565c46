#!/usr/bin/env python3
"""Writes the first two thirds of each person's days, so that choices are made on days that the
evaluation does not score:

    USAGE='../shared/data/usage/*/events.csv.gz' python3 Benchmarks/Prior/cut.py OUT

The last third of these is the validation part. With USAGE='OUT/*/events.csv.gz' fit.py makes a
prior that has not seen it, and `offstage evaluate` measures on it.
"""
import csv
import glob
import gzip
import os
import sys
from datetime import datetime, timedelta


def until(opens):
    """When the first two thirds of the days end, as `usage.prepare` cuts them."""
    first = min(opens).replace(hour=0, minute=0, second=0, microsecond=0)
    days = (max(opens) - first).days + 1
    return first + timedelta(days=round(days * 2 / 3))


def cut(source, target):
    with gzip.open(source, "rt", newline="") as file:
        head, *rows = csv.reader(file)
    opens = {}
    for user, kind, _, start, _ in rows:
        if kind == "app":
            opens.setdefault(user, []).append(datetime.fromisoformat(start))
    ends = {user: until(times) for user, times in opens.items()}
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with gzip.open(target, "wt", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for row in rows:
            if row[0] in ends and datetime.fromisoformat(row[3]) < ends[row[0]]:
                writer.writerow(row)


def main():
    for source in sorted(glob.glob(os.environ["USAGE"])):
        folder, name = os.path.split(source)
        cut(source, os.path.join(sys.argv[1], os.path.basename(folder), name))


if __name__ == "__main__":
    main()
