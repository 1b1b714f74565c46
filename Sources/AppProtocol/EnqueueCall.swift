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

    /// Bytes of memory that it takes where the call is read, about.
    fileprivate var size: Int {
        texts.reduce(32) { $0 + 112 + $1.utf8.count }
    }
}

extension Control1 {
    /// Bytes of memory that the arguments of one call may take: room for 10,000 files.
    package static let mostArgumentBytes = 3 << 20
}

extension EnqueueCall {
    /// Room for the options beside the files.
    private static var roomForOptions: Int { 256 << 10 }

    /// The same as calls that the daemon takes, in the order of the files. All have the same token.
    package var parts: [Self] {
        var parts: [Self] = []
        var rest = files[...]
        while !rest.isEmpty {
            var room = Control1.mostArgumentBytes - Self.roomForOptions
            let some = rest.prefix(File.mostInCall).prefix { file in
                room -= file.size
                return room >= 0
            }
            var part = self
            // One that is too large alone is refused by name.
            part.files = Array(some.isEmpty ? rest.prefix(1) : some)
            rest = rest.dropFirst(part.files.count)
            parts.append(part)
        }
        return parts
    }
}

/// The numbers of new transfers, in the order of their files.
package struct EnqueuedTransfers: CallReply, Codable {
    package var transfers: [Int64]

    package init(transfers: [Int64]) { self.transfers = transfers }
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
