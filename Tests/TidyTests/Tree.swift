import Glibc

/// A text file of the repository.
struct TextFile {
    /// From the root of the repository: `Sources/Linux/Files.swift`.
    let path: String
    let text: String
    /// The text with comments and the contents of string literals blanked, byte for byte.
    let code: SourceText
    /// The text with everything but comments blanked, byte for byte.
    let comments: SourceText

    init(path: String, text: String) {
        self.path = path
        self.text = text
        let parts = Lexer.split(text, language: path.hasSuffix(".swift") ? .swift : .other)
        code = SourceText(parts.code)
        comments = SourceText(parts.comments)
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var isC: Bool { path.hasSuffix(".c") || path.hasSuffix(".h") }
    var isSource: Bool { path.hasPrefix("Sources/") }

    var isCore: Bool { isSwift && isSource && Layers.pure.contains(target ?? "") }

    /// The target whose folder below `Sources` or `Tests` holds the file.
    var target: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
        return String(parts[1])
    }

    /// `Files.swift`.
    var name: String { String(path.split(separator: "/").last ?? "") }
}

/// The repository that this test was built from.
struct Tree {
    let root: String
    let files: [TextFile]

    static let current = Tree(root: rootOfRepository())

    init(root: String) {
        self.root = root
        var files: [TextFile] = []
        var folders = [""]
        while let folder = folders.popLast() {
            for name in entries(of: root + "/" + folder) {
                let path = folder.isEmpty ? name : folder + "/" + name
                if Self.notOurs.contains(name) { continue }
                if isDirectory(root + "/" + path) {
                    folders.append(path)
                } else if let text = text(at: root + "/" + path) {
                    files.append(TextFile(path: path, text: text))
                }
            }
        }
        self.files = files.sorted { $0.path < $1.path }
    }

    func file(_ path: String) -> TextFile? { files.first { $0.path == path } }

    private static let notOurs = [".git", ".build", ".swiftpm"]

    /// Four levels above this file.
    private static func rootOfRepository(_ file: String = #filePath) -> String {
        file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/")
    }
}

/// The bytes of a file, none if it cannot be read.
func bytes(at path: String) -> [UInt8] {
    guard let file = fopen(path, "rbe") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

/// The text of a file; nil when it is not text.
private func text(at path: String) -> String? {
    let bytes = bytes(at: path)
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
}

private func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

private func entries(of path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}
