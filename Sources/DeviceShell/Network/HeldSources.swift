internal import Linux
internal import Vocabulary

/// The files of uploads that have not ended, open since they were asked for: who renames or removes
/// one takes it from nobody. First come, first kept; what finds no room is opened by its path.
struct HeldSources {
    static let most = 64
    private let room = HeldSource.Room(places: HeldSources.most)
    private var held: [TransferID: HeldSource] = [:]

    /// Nil: there is no room.
    func take(_ file: consuming FileDescriptor) -> HeldSource? {
        guard room.places > 0 else { return nil }
        return HeldSource(file, in: room)
    }

    /// The first one of a transfer stays.
    mutating func hold(_ source: HeldSource, for id: TransferID) {
        if held[id] == nil { held[id] = source }
    }

    mutating func release(_ id: TransferID) { held[id] = nil }

    /// Nil: it is not held, or is not as it was any more.
    func file(of id: TransferID, _ identity: FileIdentity) -> NetworkProcess.OpenFile? {
        guard let file = held[id]?.file, (try? file.descriptor.status().identity) == identity else {
            return nil
        }
        return file
    }
}

/// One of them. It has its place also while the core has yet to say whether it takes the upload.
final class HeldSource {
    fileprivate let file: NetworkProcess.OpenFile
    private let room: Room

    fileprivate final class Room {
        var places: Int
        init(places: Int) { self.places = places }
    }

    fileprivate init(_ file: consuming FileDescriptor, in room: Room) {
        self.file = NetworkProcess.OpenFile(file)
        self.room = room
        room.places -= 1
    }

    deinit { room.places += 1 }
}
