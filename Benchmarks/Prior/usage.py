"""Usage logs, and what the daemon would know at each five minutes of them.

The features are those of Sources/DeviceCore/Prediction/PredictionContext.swift, for a whole log at
once; UsePriorTests holds numbers of both together. Formulae: docs/prediction.md.
"""
import csv
import glob
import gzip
import os
from datetime import datetime

import numpy as np
from numba import njit

BINS = 288
FRESH = 1800.0
WEEK = 7 * 86400.0
NAMES = (
    "near30 kind30 around90 weekday90 mean recent90 kind90 next30 wide300 device30 deviceKind30 "
    "device90 following followingBefore returning deviceReturning idle since awake opens24 "
    "opensSince deviceOpens60 rate bin weekend"
).split()
RETURN_EDGES = np.array([1, 2, 4, 8, 16, 32]) * 3600.0
IDLE_EDGES = np.array([2, 5, 15, 30, 60, 120, 240, 480]) * 60.0
FOUR_WEEKS = 0.5 ** (1 / 28)


class Log:
    """One user: device activity, sessions of each app, and the decision points."""


class Series:
    """One app of one user."""


def read(pattern):
    """{(data set, user): [(seconds, kind, app, duration or nan)]} of files as in data/usage."""
    users = {}
    for path in sorted(glob.glob(pattern)):
        data = os.path.basename(os.path.dirname(path))
        with gzip.open(path, "rt") as file:
            for row in csv.DictReader(file):
                at = datetime.fromisoformat(row["start"])
                seconds = at.toordinal() * 86400.0 + at.hour * 3600 + at.minute * 60 + at.second
                length = float(row["duration_s"]) if row["duration_s"] else np.nan
                users.setdefault((data, row["user"]), []).append(
                    (seconds + at.microsecond / 1e6, row["kind"], row["app"] or "", length)
                )
    return users


def sessions(starts, ends):
    """Sessions less than five minutes apart are one."""
    merged = [[starts[0], ends[0]]]
    for start, end in zip(starts[1:], ends[1:]):
        if start - merged[-1][1] < 300:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return np.array(merged).T


def prepare(data, name, rows, part=1.0, least=10):
    """The log up to `part` of its days; the last third of that is scored."""
    rows = sorted(rows, key=lambda row: row[0])
    opens = [row[0] for row in rows if row[1] == "app"]
    if len(opens) < 50:
        return None
    first = opens[0] // 86400 * 86400.0
    days = int((opens[-1] - first) // 86400) + 1
    end = opens[-1]
    if part < 1:
        days = int(round(days * part))
        end = first + days * 86400.0 - 1e-3
    rows = [row for row in rows if first <= row[0] <= end]
    at = np.array([row[0] for row in rows]) - first
    kind = np.array([row[1] for row in rows])
    app = np.array([row[2] for row in rows])
    length = np.array([row[3] for row in rows])
    screen = (kind == "screen") & ~np.char.startswith(app, "off")
    used = (kind == "app") | (kind == "system") | screen
    at, kind, app, length = at[used], kind[used], app[used], length[used]
    until = np.where(np.isnan(length), np.minimum(at + 600, np.append(at[1:], np.inf)), at + length)
    momentary = (kind == "screen") & np.isin(app, ["on", "on-locked", "on-unlocked"])
    until = np.where(momentary, at + 1, until)

    log = Log()
    log.data, log.name, log.days = data, name, days
    log.weekday = int((int(first // 86400) - 1) % 7)
    log.valid = np.zeros(days, bool)
    log.valid[np.unique((at // 86400).astype(int))] = True
    log.split = int(round(days * 2 / 3))
    if log.valid.sum() < least:
        return None
    log.starts, log.ends = at, np.maximum.accumulate(until)
    isApp = kind == "app"
    log.apps = sorted(set(app[isApp]))
    log.sessions = [sessions(at[isApp & (app == a)], until[isApp & (app == a)]) for a in log.apps]
    cut = log.split * 86400.0

    def counts(index):
        early = log.sessions[index][0][log.sessions[index][0] < cut]
        return len(early) >= 10 and len(np.unique(early // 86400)) >= 3

    log.eligible = [index for index in range(len(log.apps)) if counts(index)]
    if not log.eligible:
        return None
    opened = np.concatenate([session[0] for session in log.sessions])
    which = np.repeat(np.arange(len(log.apps)), [len(session[0]) for session in log.sessions])
    order = np.argsort(opened, kind="mergesort")
    log.opens, log.opened = opened[order], which[order]
    grid = np.arange(BINS) * 300.0
    log.t = np.concatenate([day * 86400 + grid for day in np.flatnonzero(log.valid)])
    log.day = (log.t // 86400).astype(np.int64)
    log.bin = ((log.t % 86400) // 300).astype(np.int64)
    log.series = [features(log, index) for index in log.eligible]
    return log


# What was learned


def histogram(marks, valid, group, half):
    """Of the earlier days of the same group: weighted sums by bin, and the weight of the days."""
    factor = 0.5 ** (1 / half)
    sums, weights = np.zeros(marks.shape), np.zeros(len(marks))
    kept = {}
    for day in range(len(marks)):
        total, weight = kept.get(group[day], (np.zeros(marks.shape[1]), 0.0))
        sums[day], weights[day] = total, weight
        if valid[day]:
            kept[group[day]] = (total * factor + marks[day], weight * factor + 1)
    return sums, weights


def starts_within(starts, days, low, high, wraps=True):
    """By day and bin: something began in the bins from low up to high from here."""
    counts = np.bincount((starts // 300).astype(int), minlength=days * BINS)[: days * BINS]
    here = np.arange(days * BINS)
    least, most = (0, days * BINS) if wraps else (here // BINS * BINS, (here // BINS + 1) * BINS)
    sums = np.concatenate([[0], np.cumsum(counts)])
    some = sums[np.clip(here + high, least, most)] > sums[np.clip(here + low, least, most)]
    return some.astype(float).reshape(days, BINS)


def shrunk(sums, weights, prior, strength):
    return (sums + strength * prior) / (weights[:, None] + strength)


@njit(cache=True)
def follows(opens, opened, target, apps, serial, ticks, tick_serial, factor):
    """How often the target came within 30 minutes of the last opened app, and of the one before."""
    count, hits = np.zeros(apps), np.zeros(apps)
    total, any_hits, known = 0.0, 0.0, -1
    last, before, previous, at = -1, -1, -1e18, 0
    of_last, of_before = np.zeros(len(ticks)), np.zeros(len(ticks))
    for i in range(len(ticks)):
        while at < len(opens) and opens[at] <= ticks[i]:
            if known >= 0 and serial[at] > known:
                by = factor ** (serial[at] - known)
                count *= by
                hits *= by
                total *= by
                any_hits *= by
            known = max(known, serial[at])
            if opened[at] == target:
                j = at - 1
                while j >= 0 and at - j <= 32 and opens[at] - opens[j] <= 1800.0 and (
                    opens[j] >= previous
                ):
                    hits[opened[j]] += 1
                    any_hits += 1
                    j -= 1
                previous = opens[at]
            count[opened[at]] += 1
            total += 1
            if opened[at] != last:
                before = last
                last = opened[at]
            at += 1
        by = factor ** max(0, tick_serial[i] - known) if known >= 0 else 1.0
        base = (any_hits * by + 0.02) / (total * by + 1)
        of_last[i] = of_before[i] = base
        if last >= 0:
            of_last[i] = (hits[last] * by + 5 * base) / (count[last] * by + 5)
        if before >= 0:
            of_before[i] = (hits[before] * by + 5 * base) / (count[before] * by + 5)
    return of_last, of_before


@njit(cache=True)
def returns(starts, ends, ticks, edges):
    """Opens per half hour of not being used, by how long the app was not used."""
    buckets = len(edges) + 1
    time, events = np.zeros(buckets), np.zeros(buckets)
    out = np.zeros(len(ticks))
    at = 0
    for i in range(len(ticks)):
        while at < len(starts) and starts[at] <= ticks[i]:
            gap = starts[at] - ends[at - 1] if at > 0 else 0.0
            if gap > 1800:
                for b in range(buckets):
                    low = 1800.0 if b == 0 else edges[b - 1]
                    high = edges[b] if b < buckets - 1 else 1e18
                    time[b] = time[b] * 0.98 + max(0.0, min(gap, high) - low) / 1800
                    events[b] = events[b] * 0.98 + (1.0 if low < gap <= high else 0.0)
            at += 1
        base = (events.sum() + 0.5) / (time.sum() + 10)
        since = ticks[i] - ends[at - 1] if at > 0 else 1e9
        b = 0
        while b < buckets - 1 and since > edges[b]:
            b += 1
        out[i] = (events[b] + 3 * base) / (time[b] + 3)
    return out


@njit(cache=True)
def device_returns(starts, ends, serial, ticks, idle, edges, factor):
    """The share of idle time that is less than 30 minutes before use, by how long it was idle."""
    buckets = len(edges) + 1
    time, near = np.zeros(buckets), np.zeros(buckets)
    out = np.zeros(len(ticks))
    at = 0
    for i in range(len(ticks)):
        while at < len(starts) and starts[at] <= ticks[i]:
            if at > 0 and serial[at] > serial[at - 1]:
                by = factor ** (serial[at] - serial[at - 1])
                time *= by
                near *= by
            gap = min(86400.0, starts[at] - ends[at - 1]) if at > 0 else 0.0
            if gap > 0:
                for b in range(buckets):
                    low = 0.0 if b == 0 else edges[b - 1]
                    high = min(gap, edges[b] if b < buckets - 1 else 1e18)
                    time[b] += max(0.0, high - low) / 300
                    near[b] += max(0.0, high - max(low, gap - 1800)) / 300
            at += 1
        b = 0
        while b < buckets - 1 and idle[i] > edges[b]:
            b += 1
        out[i] = (near[b] + 1.8) / (time[b] + 6)
    return out


def device_features(log):
    """What is the same for all apps of a user."""
    days, day, bin_ = log.days, log.day, log.bin
    weekday = (log.weekday + np.arange(days)) % 7
    log.kind, log.weekdays, log.every = (weekday >= 5).astype(int), weekday, np.zeros(days, int)
    log.serials = np.cumsum(log.valid)
    marks = starts_within(log.starts, days, 0, 6)
    all30 = shrunk(*histogram(marks, log.valid, log.every, 7.0), 0.3, 1)
    kind30 = shrunk(*histogram(marks, log.valid, log.kind, 10.0), all30, 1)
    wide = starts_within(log.starts, days, -6, 12)
    all90 = shrunk(*histogram(wide, log.valid, log.every, 7.0), 0.5, 1)
    last = np.searchsorted(log.starts, log.t, "right") - 1
    end = np.where(last >= 0, log.ends[np.maximum(last, 0)], -1e9)
    idle = np.clip(log.t - end, 0, WEEK)
    woke = log.starts[np.append(True, log.starts[1:] - log.ends[:-1] >= 3 * 3600)]
    last = np.searchsorted(woke, log.t, "right") - 1
    awake = np.where(last >= 0, np.clip(log.t - woke[np.maximum(last, 0)], 0, WEEK), 0)
    serial = log.serials[np.minimum((log.starts // 86400).astype(int), days - 1)]
    log.shared = {
        "device30": all30[day, bin_],
        "deviceKind30": kind30[day, bin_],
        "device90": all90[day, bin_],
        "deviceReturning": device_returns(
            log.starts, log.ends, serial.astype(np.int64), log.t, idle, IDLE_EDGES, FOUR_WEEKS
        ),
        "idle": idle,
        "awake": awake,
        "deviceOpens60": np.minimum(32, log.opens_until - opens_before(log, log.t - 3600)),
        "bin": bin_,
        "weekend": log.kind[day],
    }


def opens_before(log, time):
    return np.searchsorted(log.opens, time, "right")


SHARES = NAMES[: NAMES.index("idle")]


def whole(name, value):
    """Features are whole numbers, as in the core: shares in 1/65536, times in seconds."""
    if name in SHARES:
        return np.clip(np.floor(value * 65536), 0, 65535)
    return np.floor(value * 256 if name == "rate" else value)


def features(log, index):
    """The series of one app: sessions, whether its content is stale, target and features."""
    if not hasattr(log, "shared"):
        log.opens_until = opens_before(log, log.t)
        device_features(log)
    starts, ends = log.sessions[index]
    days, day, bin_, valid = log.days, log.day, log.bin, log.valid
    at = lambda table: table[day, bin_]
    mark30, mark90 = starts_within(starts, days, 0, 6), starts_within(starts, days, -6, 12)
    sums, weights = histogram(mark30, valid, log.every, 7.0)

    def mean(low, high, unknown):
        own = starts_within(starts, days, low, high, wraps=False)
        total = histogram(own, valid, log.every, 7.0)[0].mean(1)
        return np.where(weights > 0, total / np.maximum(weights, 1e-9), unknown)[:, None]

    near_mean = np.clip(mean(0, 6, 0.02), 0.002, 1)
    near = shrunk(sums, weights, near_mean, 1)
    around = shrunk(*histogram(mark90, valid, log.every, 7.0), mean(-6, 12, 0.05), 1)
    later = starts_within(starts, days, 6, 12)
    wide = starts_within(starts, days, -24, 36)
    serial = log.serials[np.minimum((log.opens // 86400).astype(int), days - 1)].astype(np.int64)
    of_last, of_before = follows(
        log.opens, log.opened, index, len(log.apps), serial, log.t,
        log.serials[day].astype(np.int64), FOUR_WEEKS,
    )
    last = np.searchsorted(starts, log.t, "right") - 1
    known = np.maximum(last, 0)
    end = np.where(last >= 0, ends[known], -1e9)
    per_day = np.bincount((starts // 86400).astype(int), minlength=days)[:days].astype(float)
    total, weight = histogram(per_day[:, None], valid, log.every, 7.0)
    own = {
        "near30": at(near),
        "kind30": at(shrunk(*histogram(mark30, valid, log.kind, 10.0), near, 2)),
        "around90": at(around),
        "weekday90": at(shrunk(*histogram(mark90, valid, log.weekdays, 4.0), around, 2)),
        "mean": near_mean[day, 0],
        "recent90": at(shrunk(*histogram(mark90, valid, log.every, 2.0), around, 1)),
        "kind90": at(shrunk(*histogram(mark90, valid, log.kind, 10.0), around, 1)),
        "next30": at(shrunk(*histogram(later, valid, log.every, 7.0), near_mean, 1)),
        "wide300": at(shrunk(*histogram(wide, valid, log.every, 7.0), 0.3, 1)),
        "following": of_last,
        "followingBefore": of_before,
        "returning": returns(starts, ends, log.t, RETURN_EDGES),
        "since": np.clip(log.t - end, 0, WEEK),
        "opens24": np.minimum(48, last + 1 - np.searchsorted(starts, log.t - 86400, "right")),
        "opensSince": np.minimum(
            65535, log.opens_until - opens_before(log, np.where(last >= 0, starts[known], -1e9))
        ),
        "rate": ((total[:, 0] + 1) / (weight + 1))[day],
    }
    series = Series()
    series.starts, series.ends = starts, ends
    series.x = np.column_stack(
        [whole(name, own.get(name, log.shared.get(name))) for name in NAMES]
    ).astype(np.int32)
    series.stale = log.t - end >= FRESH
    series.y = (np.append(starts, np.inf)[last + 1] - log.t <= FRESH).astype(np.float32)
    series.habit = (at(near) + own["kind30"]) / 2
    return series
