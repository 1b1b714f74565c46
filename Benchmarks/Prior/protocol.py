"""Freshness by the protocol of the benchmark: the rank rule, and how often opens were fresh."""
import numpy as np
from numba import njit

from usage import FRESH

BUDGETS = (2, 4, 8, 24)
SLOTS, BACK = 48, 14


@njit(cache=True)
def expected_better(score, stale, day, bin_, valid, first):
    """For each point and app: how many later half hours of a day score higher, over all apps, on
    average of the last 14 days."""
    points, apps = score.shape
    best = np.full((apps, len(valid), SLOTS), -1.0)
    for i in range(points):
        for a in range(apps):
            if stale[i, a]:
                slot = bin_[i] // 6
                best[a, day[i], slot] = max(best[a, day[i], slot], score[i, a])
    out = np.full((points, apps), 1e9)
    pool = np.zeros(0)
    known, at, count = -1, -1, 0
    for i in range(points):
        if day[i] < first:
            continue
        slot = bin_[i] // 6
        if day[i] != known or slot != at:
            known, at, count = day[i], slot, 0
            values = np.zeros(apps * BACK * SLOTS)
            used = 0
            back = day[i] - 1
            while back >= 0 and count < BACK:
                if valid[back]:
                    count += 1
                    for a in range(apps):
                        for z in range(slot + 1, SLOTS):
                            if best[a, back, z] >= 0:
                                values[used] = best[a, back, z]
                                used += 1
                back -= 1
            pool = np.sort(values[:used])
        for a in range(apps):
            if stale[i, a]:
                better = len(pool) - np.searchsorted(pool, score[i, a], side="right")
                out[i, a] = better / max(1, count)
    return out


@njit(cache=True)
def spend(better, t, stale, day, budget, first):
    """Refreshes (app, time): the best first, while fewer better ones are to come than are left."""
    points, apps = better.shape
    app, when = np.zeros(2 * points, np.int64), np.zeros(2 * points)
    last = np.full(apps, -1e18)
    count, used, known = 0, 0, -1
    for i in range(points):
        if day[i] < first:
            continue
        if day[i] != known:
            known, used = day[i], 0
        while used < budget and count < len(app):
            pick = -1
            for a in range(apps):
                if stale[i, a] and t[i] - last[a] >= FRESH:
                    if pick < 0 or better[i, a] < better[i, pick]:
                        pick = a
            if pick < 0 or better[i, pick] >= budget - used:
                break
            app[count], when[count], last[pick] = pick, t[i], t[i]
            count += 1
            used += 1
    return app[:count], when[:count]


def fresh(series, refreshes, first):
    """(opens that count, those of them that found content of at most 30 minutes)"""
    counted = np.flatnonzero(
        (series.starts[1:] - series.ends[:-1] > FRESH) & (series.starts[1:] >= first * 86400.0)
    )
    open_, since = series.starts[counted + 1], series.ends[counted]
    if len(refreshes):
        before = np.searchsorted(refreshes, open_ - 10, "right") - 1
        last = np.where(before >= 0, refreshes[np.maximum(before, 0)], -1e18)
        since = np.maximum(since, last)
    return len(counted), int((open_ - since <= FRESH).sum())


def measure(logs, score):
    """{(scope, B): (pooled %, mean over users with at least 5 counted opens %)}"""
    results = {}
    for scope in ("app", "device"):
        users = {budget: [] for budget in BUDGETS}
        for log in logs:
            scores = np.column_stack([score(series) for series in log.series]).astype(float)
            stale = np.column_stack([series.stale for series in log.series])
            groups = [list(range(len(log.series)))]
            if scope == "app":
                groups = [[index] for index in groups[0]]
            sums = {budget: np.zeros(2) for budget in BUDGETS}
            for group in groups:
                some = np.ascontiguousarray(stale[:, group])
                better = expected_better(
                    np.ascontiguousarray(scores[:, group]), some, log.day, log.bin, log.valid,
                    log.split,
                )
                for budget in BUDGETS:
                    app, when = spend(
                        better, log.t, some, log.day, budget * len(group), log.split
                    )
                    for place, index in enumerate(group):
                        sums[budget] += fresh(log.series[index], when[app == place], log.split)
            for budget in BUDGETS:
                users[budget].append(sums[budget])
        for budget in BUDGETS:
            table = np.array(users[budget])
            some = table[:, 0] >= 5
            results[scope, budget] = (
                100 * table[:, 1].sum() / table[:, 0].sum(),
                100 * (table[some, 1] / table[some, 0]).mean(),
            )
    return results


def line(name, results):
    def row(scope, which):
        return " ".join("%5.1f" % results[scope, budget][which] for budget in BUDGETS)

    parts = ["%s %s (users %s)" % (p, row(p, 0), row(p, 1)) for p in ("app", "device")]
    return "%-28s %s" % (name, "  ".join(parts))
