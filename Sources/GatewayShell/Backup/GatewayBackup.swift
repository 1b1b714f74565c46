import CommandTable
import GatewayCore
import Linux
import SQLite
import TLS
import Vocabulary

/// Writes a gateway's files into one archive.
///
/// The archive is made here and not by `tar`: a header is simple, what was read is what is written,
/// no secret lies on the disk a second time, and no other program must be installed.
///
/// Its files are of two moments: the small ones are read first, then the store as it is at one
/// instant. Between them an operator may have changed keys, settings or the certificate. The store
/// names none of these, so any two moments fit. It does rest on the token key, which never changes.
struct GatewayBackup {
    struct Result {
        var bytes: Int64 = 0
        var files: [String] = []
        /// What else is in the directory.
        var leftOut: [String] = []
        /// Why what is in it cannot be served; nil: it can.
        var warning: String?
    }

    private let paths: GatewayPaths
    private let path: String
    private let staging: BackupStaging

    /// `path`: of the archive; or where its parts may lie, if it is written elsewhere.
    init(_ paths: GatewayPaths, into path: String) {
        (self.paths, self.path) = (paths, path)
        staging = BackupStaging(for: path)
    }

    /// Makes the file; it is there once it is whole and on the disk.
    func write(replacing: Bool) throws(Failure) -> Result {
        try checkTarget(replacing: replacing)
        return try staged {
            let archive = staging.path("archive")
            let file = try FileDescriptor(opening: archive, [.writing, .create, .exclusive])
            let result = try write(into: file)
            try file.synchronize()
            try file.close()
            try staging.finish { () throws(LinuxError) in try Files.rename(archive, to: path) }
            try FileDescriptor(opening: Files.directory(of: path), [.reading, .directory])
                .synchronize()
            return result
        }
    }

    /// Writes the archive to standard output.
    func writeToOutput() throws(Failure) -> Result {
        try staged {
            let output = FileDescriptor(owning: 1)
            do {
                let result = try write(into: output)
                // The stream is not ours to close.
                _ = output.release()
                return result
            } catch {
                _ = output.release()
                throw error
            }
        }
    }

    private func checkTarget(replacing: Bool) throws(Failure) {
        guard let old = Files.status(path, followLinks: false) else { return }
        guard old.kind == .file else {
            throw Failure(.failed, "\(path.quoted) exists and is not a file")
        }
        guard replacing else {
            throw Failure(.failed, "\(path.quoted) exists already", fix: "--force replaces it.")
        }
    }

    private func staged(_ body: () throws -> Result) throws(Failure) -> Result {
        try staging.make()
        defer { staging.remove() }
        do {
            return try body()
        } catch let failure as Failure {
            throw failure
        } catch let error as SQLiteError where error.isFull {
            throw Failure(.failed, "no room for the backup in \(staging.parent.quoted)")
        } catch let error as LinuxError where error.errno == .noSpace {
            throw Failure(.failed, "no room for the backup: \(error.errno.text)")
        } catch {
            throw Failure(.failed, "nothing was backed up: \(error)")
        }
    }

    // MARK: What is in it

    private struct Small {
        var entry: ArchiveFormat.Entry
        var bytes: [UInt8]
    }

    private func write(into output: borrowing FileDescriptor) throws -> Result {
        var result = Result()
        let names = try names()
        result.leftOut = try leftOut(names)
        let small = try names.map { try read($0) }
        result.warning = warning()
        let store = try copyStore()
        func write(_ bytes: [UInt8]) throws(LinuxError) {
            try output.writeAll(bytes.span)
            result.bytes += Int64(bytes.count)
        }
        for file in small {
            try write(ArchiveFormat.header(file.entry) + file.bytes)
            try write(ArchiveFormat.padding(behind: file.entry.size))
            result.files.append(file.entry.name)
        }
        if let store {
            var entry = try entry(of: paths.store, size: try store.status().size)
            // SQLite leaves it to the directory who may read it; who knows where it is unpacked.
            entry.permissions &= 0o600
            try write(ArchiveFormat.header(entry))
            var left = entry.size
            while left > 0 {
                let piece = try store.read(upTo: Int(min(left, 1 << 20)))
                guard !piece.isEmpty else { throw LinuxError("read", "the copy", .inputOutput) }
                try write(piece)
                left -= Int64(piece.count)
            }
            try write(ArchiveFormat.padding(behind: entry.size))
            result.files.append(entry.name)
        }
        try write(ArchiveFormat.end)
        return result
    }

    /// Without the store. A key is added to its own file first and to the list after that, and
    /// removed in the other order: so the list is read before the files.
    private func names() throws(Failure) -> [String] {
        try paths.checkExists()
        let needed = paths.essentials
        let others = [paths.authorityKey, paths.settings, paths.deviceKey, paths.keys]
        let keys = try failing { try Files.list(paths.directory) }.filter { name in
            name.hasSuffix(".p8") && (try? KeysFile.word(String(name.dropLast(3)), "")) != nil
        }
        let there = needed + others.filter { !Files.isMissing($0) }
        return there.map { Files.name(of: $0) } + keys
    }

    /// Not what a gateway makes anew by itself.
    private func leftOut(_ names: [String]) throws(LinuxError) -> [String] {
        let own = [paths.store, paths.lock, paths.control].map { Files.name(of: $0) }
        return try Files.list(paths.directory).filter { name in
            !names.contains(name) && !own.contains(name) && !name.hasSuffix(".new")
                && !name.hasPrefix(own[0] + "-")
        }
    }

    private func read(_ name: String) throws -> Small {
        let path = paths.directory + "/" + name
        try GatewayPaths.checkReadable(path)
        let bytes = try Files.readRegular(path, limit: 1 << 20)
        return Small(entry: try entry(of: path, size: Int64(bytes.count)), bytes: bytes)
    }

    private func entry(of path: String, size: Int64) throws(LinuxError) -> ArchiveFormat.Entry {
        guard let status = Files.status(path) else { throw LinuxError("stat", path, .noEntry) }
        return ArchiveFormat.Entry(
            Files.name(of: path),
            size: size,
            permissions: status.permissions,
            user: status.user,
            group: status.group,
            modified: status.modified / 1_000_000_000
        )
    }

    /// A certificate that is being replaced just now, or was not replaced well.
    private func warning() -> String? {
        do {
            _ = try TLSContext(
                server: try Files.text(paths.certificate),
                key: try Files.text(paths.certificateKey)
            )
            return nil
        } catch {
            return "server.pem and server.key do not match, and nothing can be served with "
                + "them: \(error)"
        }
    }

    /// The store as it is now, if there is one: before its first start a gateway has none.
    private func copyStore() throws -> FileDescriptor? {
        try GatewayPaths.checkReadable(paths.store)
        guard Files.exists(paths.store) else { return nil }
        let copy = staging.path("gateway.db")
        do {
            let store = try Database(path: paths.store, mode: .readOnly, busyTimeout: 10_000)
            try StoreSchema.check(store, paths.store, orOlder: true)
            try store.copy(to: copy)
        } catch {
            throw StorageError(error, opening: paths.store)
        }
        do {
            let database = try Database(path: copy, mode: .readWrite)
            try RestoredStore.mark(database, at: Clocks.now().wall)
        }
        return try FileDescriptor(opening: copy, .reading)
    }
}
