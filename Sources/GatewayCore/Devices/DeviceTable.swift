import Vocabulary

/// The devices in memory, each at a place of its own: once that is known, what stands there is
/// looked at and changed without a copy.
struct DeviceTable: Sendable {
    private(set) var count = 0
    /// By place; those of nobody are empty.
    var states: [DeviceState] = []
    private var owners: [DeviceID?] = []
    private var places: [UInt64: Int32] = [:]
    private var unused: [Int32] = []

    /// The one that was looked for last: a push asks several times for its device.
    private var recent: (device: UInt64, place: Int) = (0, -1)

    /// In the order of their places.
    var all: [DeviceID] { owners.compactMap { $0 } }

    /// Valid until the device is removed.
    func place(of device: DeviceID) -> Int? {
        if recent.place >= 0, recent.device == device.number { return recent.place }
        return places[device.number].map(Int.init)
    }

    /// The same, and the next questions are for this one.
    mutating func find(_ device: DeviceID) -> Int? {
        let place = place(of: device)
        if let place { recent = (device.number, place) }
        return place
    }

    subscript(device: DeviceID) -> DeviceState? {
        get { place(of: device).map { states[$0] } }
        _modify {
            let place = place(of: device)
            // Taken out meanwhile: what is there once is changed in place.
            var state: DeviceState?
            if let place {
                var taken = DeviceState()
                swap(&taken, &states[place])
                state = taken
            }
            defer { put(state, of: device, at: place) }
            yield &state
        }
    }

    private mutating func put(_ state: DeviceState?, of device: DeviceID, at place: Int?) {
        switch (state, place) {
        case (.some(let state), .some(let place)): states[place] = state
        case (.some(let state), .none):
            count += 1
            if let place = unused.popLast() {
                states[Int(place)] = state
                owners[Int(place)] = device
                places[device.number] = place
            } else {
                places[device.number] = Int32(states.count)
                states.append(state)
                owners.append(device)
            }
        case (.none, .some(let place)):
            count -= 1
            places[device.number] = nil
            if recent.place == place { recent.place = -1 }
            owners[place] = nil
            unused.append(Int32(place))
        case (.none, .none): break
        }
    }
}
