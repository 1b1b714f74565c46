import Vocabulary

/// The devices in memory, each in a row of its own: once its row is known, the state is read and
/// changed without a copy.
struct DeviceTable: Sendable {
    private(set) var count = 0
    /// By row; the state of an unused row is empty.
    var states: [DeviceState] = []
    private var owners: [DeviceID?] = []
    private var rows: [UInt64: Int32] = [:]
    private var unused: [Int32] = []

    /// The one that was looked for last: a push asks several times for its device.
    private var recent: (device: UInt64, row: Int) = (0, -1)

    /// In the order of their rows.
    var all: [DeviceID] { owners.compactMap { $0 } }

    /// Valid until the device is removed.
    func row(of device: DeviceID) -> Int? {
        if recent.row >= 0, recent.device == device.number { return recent.row }
        return rows[device.number].map(Int.init)
    }

    /// The same, and the next questions are for this one.
    mutating func find(_ device: DeviceID) -> Int? {
        let row = row(of: device)
        if let row { recent = (device.number, row) }
        return row
    }

    subscript(device: DeviceID) -> DeviceState? {
        get { row(of: device).map { states[$0] } }
        _modify {
            let row = row(of: device)
            // Taken out meanwhile: what is there once is changed in place.
            var state: DeviceState?
            if let row {
                var taken = DeviceState()
                swap(&taken, &states[row])
                state = taken
            }
            defer { put(state, of: device, at: row) }
            yield &state
        }
    }

    private mutating func put(_ state: DeviceState?, of device: DeviceID, at row: Int?) {
        switch (state, row) {
        case (.some(let state), .some(let row)): states[row] = state
        case (.some(let state), .none):
            count += 1
            if let row = unused.popLast() {
                states[Int(row)] = state
                owners[Int(row)] = device
                rows[device.number] = row
            } else {
                rows[device.number] = Int32(states.count)
                states.append(state)
                owners.append(device)
            }
        case (.none, .some(let row)):
            count -= 1
            rows[device.number] = nil
            if recent.row == row { recent.row = -1 }
            owners[row] = nil
            unused.append(Int32(row))
        case (.none, .none): break
        }
    }
}
