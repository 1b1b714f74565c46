internal import DeviceCore
internal import Linux

/// Parts of files whose transfers were moved.
extension TransferFiles {
    /// What was fetched follows the transfer from wherever it is. On another file system it does
    /// not: there the transfer begins anew. A part with another inode is left from an earlier
    /// attempt, whose directory was out of reach when it was to be removed: no transfer goes on
    /// with it. Throws what is lacking for now: the part follows later.
    static func bring(
        _ file: TransferFile,
        to directory: borrowing OpenDirectory
    ) throws(LinuxError) {
        guard !file.formers.isEmpty else { return }
        let name = file.partialName
        let own = try directory.descriptor.status()
        var isHere = false
        if let found = directory.inode(of: name) {
            isHere = found == file.inode ?? found
            if !isHere { try? directory.remove(name) }
        }
        for path in file.formers.reversed() {
            do throws(LinuxError) {
                let former = try OpenDirectory(path)
                // The same directory may have two paths.
                guard try !former.descriptor.status().isSameFile(as: own),
                    let found = former.inode(of: name)
                else { continue }
                if !isHere, found == file.inode ?? found {
                    isHere = try take(name, from: former, to: directory)
                } else {
                    try former.remove(name)
                }
            } catch {
                if error.isOfNow { throw error }
            }
        }
    }

    /// Durably: where it was is forgotten then. False: it cannot go there, and is gone.
    private static func take(
        _ name: String,
        from former: borrowing OpenDirectory,
        to directory: borrowing OpenDirectory
    ) throws(LinuxError) -> Bool {
        do throws(LinuxError) {
            try directory.take(name, from: former)
        } catch {
            if error.isOfNow { throw error }
            try former.remove(name)
            return false
        }
        try directory.synchronize()
        return true
    }
}
