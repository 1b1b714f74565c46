package import Vocabulary

/// A call that hands files over, each of which becomes a transfer.
package protocol EnqueueCall: ControlCall where Reply == EnqueuedTransfers {
    associatedtype File: EnqueuedFile
    var files: [File] { get set }
    var manner: Control1.TransferManner { get set }
}

package protocol EnqueuedFile: Equatable, Sendable {
    var url: String { get }
    /// All that is said of it.
    var texts: [String] { get }
}

extension EnqueuedFile {
    /// So many may be in one call.
    package static var mostInCall: Int { 10_000 }

    /// What it takes of a call, at most about: each text is there with its name, and in a variant.
    fileprivate var size: CallSize {
        texts.reduce(CallSize(memory: Value.overhead, wire: 16)) { size, text in
            CallSize(
                memory: size.memory + 3 * Value.overhead + 16 + text.utf8.count,
                wire: size.wire + 28 + text.utf8.count
            )
        }
    }

    /// Whether a call can take it at all.
    package var fitsInCall: Bool { size.fits(in: .room) }
}

/// Bytes that something takes of a call: in memory, where the call is read, and on the way.
private struct CallSize {
    var memory: Int
    var wire: Int

    /// What the files of one call may take, with room for the options beside them.
    static let room = CallSize(
        memory: Control1.mostArgumentBytes - (256 << 10),
        wire: Control1.mostMessageBytes - (128 << 10)
    )

    func fits(in room: CallSize) -> Bool { memory <= room.memory && wire <= room.wire }

    mutating func take(_ size: CallSize) {
        memory -= size.memory
        wire -= size.wire
    }
}

extension Array where Element: EnqueuedFile {
    /// The same in order, for calls that the daemon takes.
    package var callParts: [[Element]] {
        var parts: [[Element]] = []
        var rest = self[...]
        while !rest.isEmpty {
            var room = CallSize.room
            let some = rest.prefix(Element.mostInCall).prefix { file in
                let size = file.size
                defer { room.take(size) }
                return size.fits(in: room)
            }
            // One that is too large alone is refused by name.
            let part = some.isEmpty ? rest.prefix(1) : some
            parts.append(Array(part))
            rest = rest.dropFirst(part.count)
        }
        return parts
    }
}

extension Control1 {
    /// Bytes of memory that the arguments of one call may take. 10,000 files take as much if each
    /// has a URL of 100 bytes and seven other properties.
    package static let mostArgumentBytes = 10 << 20
    /// Bytes of a message that are read. 10,000 files have about 300 each.
    package static let mostMessageBytes = 3 << 20
}

extension EnqueueCall {
    /// The same as calls that the daemon takes, in the order of the files. All have the same token.
    package var parts: [Self] {
        files.callParts.map { files in
            var part = self
            part.files = files
            return part
        }
    }
}

/// The numbers of new transfers, in the order of their files.
package struct EnqueuedTransfers: CallReply, Codable {
    package var transfers: [Int64]
    /// Conditions that they depend on and that no source reports; nil: none, or an older daemon.
    package var unsensed: [String]?

    package init(transfers: [Int64], unsensed: [String]? = nil) {
        (self.transfers, self.unsensed) = (transfers, unsensed)
    }
}

/// The first transfers of a list, and which ones are left to be asked for.
package struct ListedTransfers: CallReply, Codable {
    package var transfers: [Reported<Report.Transfer>]
    /// Nil: these are all.
    package var more: [Int64]?

    /// `report`: of these numbers, those that there are.
    package init(_ ids: [Int64], report: (ArraySlice<Int64>) -> [Report.Transfer]) {
        transfers = report(ids.prefix(Control1.TransferPage.most)).map { Reported($0) }
        let rest = ids.dropFirst(Control1.TransferPage.most)
        more = rest.isEmpty ? nil : Array(rest)
    }
}
