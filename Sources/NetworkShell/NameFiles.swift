import Linux

/// What the C library looks names up by.
struct NameFiles {
    /// They may be replaced at any time.
    let paths = [
        "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/host.conf",
    ]

    /// `resolv.conf` often is a link to what a program in `/run` writes anew each time: then all of
    /// that program's directory.
    var readable: [String] {
        paths
            + paths.compactMap { path in
                guard let target = Files.resolved(path), target.hasPrefix("/run/") else {
                    return nil
                }
                let directory = Files.directory(of: target)
                return directory == "/run" ? nil : directory
            }
    }

    static func canRead(_ path: String) -> Bool {
        (try? FileDescriptor(opening: path, [.reading])) != nil
    }

    /// The services of `nsswitch.conf` that are libraries; in here none can be loaded.
    func loadServices() {
        guard let text = try? Files.text("/etc/nsswitch.conf") else { return }
        for line in text.split(separator: "\n") where line.hasPrefix("hosts:") {
            for word in line.dropFirst(6).split(whereSeparator: { " \t".contains($0) }) {
                guard word.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
                else { continue }
                CurrentProcess.loadLibrary("libnss_\(word).so.2")
            }
        }
    }
}
