internal import Glibc

extension Files {
    /// The paths that a pattern of the shell's (`*`, `?`, `[…]`) matches, in order; a path without
    /// any matches itself if it is there.
    package static func matching(_ pattern: String) -> [String] {
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        guard unsafe glob(pattern, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(unsafe found.gl_pathc)).compactMap { index in
            unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
        }
    }
}
