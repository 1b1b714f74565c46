#!/usr/bin/env python3
"""Reads what version 14 of the store holds, and says it in words that no version of Offstage chose.

    read.py DIRECTORY > DIRECTORY.json

It shares no code with Offstage: sqlite3 is Python's own, CBOR is read below.
"""
import json
import math
import sqlite3
import struct
import sys


def item(data, at):
    """One CBOR item (RFC 8949) of the kinds that are stored, and where it ends."""
    major, low = data[at] >> 5, data[at] & 0x1F
    at += 1
    if major == 7:
        if low in (20, 21, 22):
            return {20: False, 21: True, 22: None}[low], at
        size, form = {25: (2, ">e"), 26: (4, ">f"), 27: (8, ">d")}[low]
        return struct.unpack(form, data[at : at + size])[0], at + size
    number = low
    if low >= 24:
        size = 1 << low - 24
        number, at = int.from_bytes(data[at : at + size], "big"), at + size
    if major == 0:
        return number, at
    if major == 1:
        return -1 - number, at
    if major == 2:
        return data[at : at + number], at + number
    if major == 3:
        return data[at : at + number].decode(), at + number
    if major == 4:
        values = []
        for _ in range(number):
            value, at = item(data, at)
            values.append(value)
        return values, at
    assert major == 5, "nothing else is stored"
    fields = {}
    for _ in range(number):
        key, at = item(data, at)
        fields[key], at = item(data, at)
    return fields, at


def tree(data):
    value, end = item(data, 0)
    assert end == len(data)
    return value


def some(**fields):
    return {key: value for key, value in fields.items() if value is not None}


def millionths(number):
    return math.floor(number * 1e6 + 0.5)


def numbers(value):
    """How many numbers are in a tree, and their sum, in 64 bits; doubles count in millionths."""
    count, total, todo = 0, 0, [value]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif isinstance(value, float):
            count, total = count + 1, total + millionths(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            count, total = count + 1, total + value
    return [count, str(total % 2**64)]


def case(value):
    """An enum with associated values, in one line."""
    (name, payload), = value.items()
    return " ".join([name] + [str(payload[key]) for key in sorted(payload)])


EARLIEST = -(2**63)
NO_LEDGER = {"day": EARLIEST, "wakes": 0}
NO_NEEDS = {"network": False, "power": False, "unmetered": False, "unlocked": False}

# What a field that is not there means: version 7 leaves out what is as in a new record.
ABSENT = {
    "device": {
        "byHand": [], "ledger": NO_LEDGER, "refreshBudget": {"day": EARLIEST, "spent": 0},
        "use": {},
    },
    "app": {
        "failures": {"count": 0, "reason": ""}, "fetchInterval": {"never": {}},
        "ledger": NO_LEDGER, "refresh": {}, "paces": [], "tokens": [],
    },
    "request": {"needs": NO_NEEDS, "isCancelled": False, "mode": "normal", "state": {"pending": {}}},
    "launch": {"tasks": [], "registered": [], "isFrozen": False},
    "transfer": {},
}
NO_MEMORY = {"newData": 0, "noData": 0, "opens": 0, "cost": 0.0, "day": EARLIEST, "spent": 0}


def whole(section, body):
    inner = section in ("request", "launch", "transfer")
    fields = body[section] if inner else body
    fields = ABSENT[section] | fields
    if section == "app":
        fields["refresh"] = NO_MEMORY | fields["refresh"]
        if "transient" in fields:
            fields["transient"] = {"environment": []} | fields["transient"]
    if section == "request":
        fields["needs"] = NO_NEEDS | fields["needs"]
    return body | {section: fields} if inner else fields


def ledger(value):
    return some(
        day=value["day"], wakes=value["wakes"], time=value.get("runTime", 0),
        cpu=value.get("cpu", 0),
        wakesOnBattery=value.get("wakesOnBattery", 0),
        timeOnBattery=value.get("runTimeOnBattery", 0),
    )


def decision(value):
    return value and [value["chance"], value["price"], value["left"]]


def device(body):
    use, refreshes = body["use"], body["refreshBudget"]
    return some(
        boot=body["bootID"], seed=body["seed"], reserved=body["reserved"],
        pausedSince=body.get("pausedAt"), pausedUntil=body.get("pausedUntil"),
        pauseEnds=body.get("pauseEnds"), spent=ledger(body["ledger"]),
        byHand=[[reading["condition"], reading["value"]] for reading in body["byHand"]],
        refreshesSpent=[refreshes["day"], refreshes["spent"]],
        use=some(
            days=use["days"]["count"], day=use["days"]["day"], isInUse=use["isInUse"],
            lastUse=use.get("lastUse"), numbers=numbers(use),
        ),
    )


def command(manifest):
    return manifest and some(
        name=manifest["name"], refresh=manifest.get("refreshCommand"),
        processing=manifest.get("processingCommand"), directory=manifest.get("directory"),
        environment=[[one["name"], one["value"]] for one in manifest["environment"]],
    )


def last_run(run):
    return run and some(
        at=run["at"], task=run["identifier"], result=case(run["result"]), reason=run["reason"],
        decision=decision(run.get("decision")),
    )


def learned(memory):
    use, moments = memory.get("use"), memory.get("gains")
    return some(
        newData=memory["newData"], noData=memory["noData"], opens=memory["opens"],
        costMillionths=millionths(memory["cost"]), spent=[memory["day"], memory["spent"]],
        use=use and some(
            isOpen=use["isOpen"], lastUse=use.get("lastUse"), numbers=numbers(use),
        ),
        moments=moments and numbers(moments),
    )


def app(body):
    failures = body["failures"]
    ends = {end["trigger"]: end["at"] for end in body.get("lastEnds", [])}
    return some(
        firstSeen=body.get("firstSeen"), lastUsed=body.get("lastUsed"),
        goneSince=body.get("goneSince"), closed=body.get("closedAt"),
        unusedSince=body.get("unusedSince"), fetchInterval=case(body["fetchInterval"]),
        failures=some(
            count=failures["count"], since=failures.get("since"), reason=failures["reason"],
            until=failures.get("until"),
        ),
        lastRun=last_run(body.get("lastRun")), lastRefreshEnd=ends.get("refresh"),
        lastProcessingEnd=ends.get("processing"), spent=ledger(body["ledger"]),
        learned=learned(body["refresh"]), command=command(body.get("transient")),
        paces=[[pace["identifier"], pace["began"], pace["close"]] for pace in body["paces"]],
        tokens=[[one["token"], one["request"], one["identifier"]] for one in body["tokens"]],
    )


def request(body):
    request = body["request"]
    return some(
        app=body["app"], task=request["identifier"], kind=request["trigger"],
        origin=request["origin"], earliest=request.get("earliest"), span=request.get("span"),
        needs=[need for need in sorted(request["needs"]) if request["needs"][need]],
        every=request.get("every"), lastEnd=request.get("lastEnd"),
        submittedAt=request["submittedAt"], mode=request["mode"],
        interruptedAt=request.get("interruptedAt"), state=case(request["state"]),
        isCancelled=request["isCancelled"],
    )


def wake(wake):
    return wake and some(
        trigger=wake["trigger"], task=wake["identifier"], resumed=wake["resumed"],
        mode=wake["mode"], began=wake["began"]["wall"], end=wake["end"], stop=wake.get("stop"),
        wasOnBattery=wake.get("wasOnBattery"), decision=decision(wake.get("decision")),
    )


def launch(body):
    launch = body["launch"]
    process = launch.get("process")
    return some(
        app=body["app"], role=case(launch["role"]), phase=launch["phase"],
        process=process and [process["pid"], process["startTime"]],
        presence=launch["presence"], isFrozen=launch["isFrozen"], wake=wake(launch.get("wake")),
        tasks=[[task["number"], task["name"], task.get("token")] for task in launch["tasks"]],
        registered=launch["registered"], interruptedSince=launch.get("interruptedSince"),
        deadline=launch.get("deadline"),
    )


def transfer(body):
    transfer = body["transfer"]
    order, state = transfer["order"], transfer["state"]
    (name, payload), = state.items()
    return some(
        app=body["app"], url=order["url"], directory=order["directory"], name=order.get("name"),
        earliest=order.get("earliest"), limit=order["resourceTimeout"],
        submittedAt=transfer["submittedAt"],
        state=next(iter(payload["_0"])) if name == "ended" else name,
    )


def line(number, body):
    (what, entry), = body["entry"].items()
    fields = some(id=number, at=body["at"], offset=body["utcOffset"], app=body["app"], what=what)
    if what == "wake":
        run = entry["_0"]
        fields |= some(
            launch=run["launch"], trigger=run["trigger"], task=run["identifier"],
            resumed=run["resumed"], simulated=run["simulated"], result=case(run["result"]),
            reason=run["reason"], time=run["runTime"], cpu=run.get("cpu"),
            memory=run.get("memory"), decision=decision(run.get("decision")),
        )
    elif what == "ended":
        fields |= some(result=case(entry["_0"]), reason=entry["reason"])
    elif what == "dropped":
        fields |= some(task=entry["identifier"], reason=entry["reason"])
    elif what == "note":
        fields |= some(reason=entry["_0"])
    elif what == "transferred":
        fields |= some(what="transfer", url=entry["url"], result=next(iter(entry["_2"])))
    else:
        fields |= some(use=entry["_0"])
    return fields


def text(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def lines(value):
    """JSON with a line for each thing."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(text(one) for one in value) + "\n]"
    return "{\n" + ",\n".join(f"{text(key)}: {text(value[key])}" for key in sorted(value)) + "\n}"


def main(directory):
    database = sqlite3.connect(f"file:{directory}/offstage.db?immutable=1", uri=True)
    (version,), = database.execute("PRAGMA user_version")
    assert version == 14
    words = {"app": app, "request": request, "launch": launch, "transfer": transfer}
    known = {"apps": {}, "requests": {}, "launches": {}, "transfers": {}}
    for section, key, body in database.execute("SELECT section, key, body FROM records"):
        if section == "device":
            known["device"] = device(whole(section, tree(body)))
        else:
            known[section + ("es" if section == "launch" else "s")][key] = words[section](
                whole(section, tree(body))
            )
    rows = database.execute("SELECT id, body FROM history ORDER BY id")
    known["history"] = [line(number, tree(body)) for number, body in rows]
    if not known["transfers"]:
        del known["transfers"]
    print("{" + ",\n".join(f"{text(name)}: {lines(known[name])}" for name in sorted(known)) + "}")


main(sys.argv[1].rstrip("/"))
