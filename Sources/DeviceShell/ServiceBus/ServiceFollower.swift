internal import DeviceCore
internal import SystemBus
internal import Vocabulary

/// One service of the machine's message bus, followed while it is there: its objects are read when
/// it comes, and then it is listened to. It says so itself when something changes; nobody polls.
@safe
final class ServiceFollower {
    let row: ServiceRow
    private let bus: Bus
    private let context: () -> ServiceContext
    private let changed: () -> Void
    private var rereads: [Subscription] = []
    /// To the changes of each object that is read. What others of the service say wakes nobody.
    private var changes: [ServiceObject: Subscription] = [:]
    private var name: NameWatch?
    /// Its unique name on the bus; nil: it is not there.
    private var owner: String? { name?.owner }
    private(set) var objects = ServiceObjects()
    /// Of each object that is being read: the number of the question that counts.
    private var asked: [ServiceObject: UInt64] = [:]
    /// Of the listing that counts; nil: it is not being asked for.
    private var askedForList: UInt64?
    private var questions: UInt64 = 0
    /// Why an object could not be read; nil: all could, or are not there.
    private(set) var problem: String?

    init(
        _ row: ServiceRow,
        on bus: Bus,
        context: @escaping () -> ServiceContext,
        changed: @escaping () -> Void
    ) throws(BusError) {
        (self.row, self.bus, self.context, self.changed) = (row, bus, context, changed)
        for signal in row.rereadAfter {
            rereads.append(
                try bus.onSignal(
                    signal.member,
                    of: signal.object.interface,
                    at: signal.object.path,
                    from: row.name
                ) { [unowned self] message in
                    if message.sender == owner { readAll() }
                }
            )
        }
        name = try NameWatch(row.name, on: bus, startingIt: row.startsOnDemand) {
            [unowned self] in found($0)
        }
    }

    var isThere: Bool { owner != nil }

    /// What it says now.
    var readings: [Condition: Reading] {
        owner == nil ? [:] : row.read(objects, context())
    }

    private func found(_ isThere: Bool) {
        objects = ServiceObjects()
        (asked, askedForList, changes) = ([:], nil, [:])
        problem = nil
        if isThere { readAll() } else { changed() }
    }

    // MARK: What it says

    private func readAll() {
        if let listing = row.listing { list(listing) }
        for object in row.objects(objects, context()) { read(object) }
    }

    private func read(_ object: ServiceObject) {
        guard let owner else { return }
        questions += 1
        let question = questions
        asked[object] = question
        do throws(BusError) {
            // Nothing falls between what is read and what is heard.
            if changes[object] == nil {
                changes[object] = try bus.onChange(of: object, from: row.name) {
                    [unowned self] in heard($0)
                }
            }
            try bus.properties(of: (owner, object.path, object.interface)) {
                [unowned self] answer in
                guard asked[object] == question else { return }
                asked[object] = nil
                took(answer, of: object)
            }
        } catch {
            asked[object] = nil
            problem = error.message
        }
    }

    private func list(_ listing: ServiceMember) {
        guard let owner else { return }
        questions += 1
        let question = questions
        askedForList = question
        let object = listing.object
        do throws(BusError) {
            try bus.call(Target(owner, object.path, object.interface, listing.member)) {
                [weak self] answer in
                guard let self, askedForList == question else { return }
                askedForList = nil
                update { $0.listed = paths(answer) }
            }
        } catch {
            askedForList = nil
            problem = error.message
        }
    }

    private func paths(_ answer: Result<[Value], BusError>) -> [String] {
        switch answer {
        case .success(let values): return values.first?.listValue?.compactMap(\.stringValue) ?? []
        case .failure(let error):
            if !error.isAbsence { problem = error.message }
            return []
        }
    }

    private func took(_ answer: Result<ValueMap, BusError>, of object: ServiceObject) {
        switch answer {
        case .success(let map): know(map, of: object)
        // It has gone, or this machine has none.
        case .failure(let error):
            know(nil, of: object)
            if !error.isAbsence { problem = error.message }
        }
    }

    private func know(_ map: ValueMap?, of object: ServiceObject) {
        update { $0[object] = map }
    }

    /// What it says may lead to further objects, and away from others.
    private func update(_ change: (inout ServiceObjects) -> Void) {
        let before = row.objects(objects, context())
        change(&objects)
        let now = row.objects(objects, context())
        for further in now where !before.contains(further) { read(further) }
        // Of sessions that are over, above all.
        objects.keep(now)
        changes = changes.filter { now.contains($0.key) }
        if asked.isEmpty, askedForList == nil { changed() }
    }

    private func heard(_ message: SignalMessage) {
        guard message.sender == owner, message.arguments.count == 3,
            let interface = message.arguments[0].stringValue,
            let values = message.arguments[1].mapValue
        else { return }
        let object = ServiceObject(path: message.path, interface: interface)
        guard row.objects(objects, context()).contains(object) else { return }
        // An answer that is on its way may be older, and lack this.
        guard asked[object] == nil, var map = objects[object],
            message.arguments[2].listValue?.isEmpty == true
        else { return read(object) }
        for entry in values.entries { map[entry.key] = entry.value }
        know(map, of: object)
    }
}

extension BusError {
    /// Nobody, or nothing, of that name.
    fileprivate var isAbsence: Bool {
        guard case .refused(let name) = reason else { return false }
        let names = ["UnknownObject", "UnknownInterface", "UnknownMethod", "ServiceUnknown"]
        return names.contains { name == "org.freedesktop.DBus.Error." + $0 }
            || name.hasPrefix("org.freedesktop.login1.NoSuch")
    }
}
