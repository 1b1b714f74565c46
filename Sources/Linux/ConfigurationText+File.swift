package import Vocabulary

extension ConfigurationText {
    /// Nothing when there is no file.
    ///
    /// - Throws: When it cannot be read, or is no regular file.
    package init(file path: String) throws(Diagnostic) {
        guard Files.exists(path) else {
            self.init()
            return
        }
        switch Files.status(path)?.kind {
        case .file, nil: break
        case .directory:
            throw Diagnostic(
                .error,
                reason: "is a directory, not a file",
                fix: "Put a file in its place."
            )
        case .some:
            throw Diagnostic(.error, reason: "is no regular file", fix: "Put a file in its place.")
        }
        do throws(LinuxError) {
            self.init(bytes: try Files.readRegular(path, limit: Self.limit + 1))
        } catch {
            throw Diagnostic(
                .error,
                reason: "cannot be read: \(error)",
                fix: "Mend its permissions."
            )
        }
    }
}
