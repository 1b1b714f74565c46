import CommandTable
import DeviceCore
import Linux
import PortCore
import Vocabulary

/// The files of a project, as they are on this machine.
struct ProjectFiles {
    private(set) var project: PortedProject
    /// Directories that were read: each is read once, however it is named.
    private var directories: Set<Identity> = []

    private struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    init() {
        project = PortedProject(served: Set(BackgroundMode.allCases.filter(\.isServed)))
    }

    /// Reads everything below a directory.
    mutating func read(_ directory: String) throws(Failure) {
        let path =
            directory.count > 1 && directory.hasSuffix("/")
            ? String(directory.dropLast()) : directory
        guard let status = Files.status(path) else {
            throw Failure(
                .notFound,
                "\(path.quoted) is not there, or may not be looked at",
                fix: "Name the directory that holds the app's sources."
            )
        }
        guard status.kind == .directory else {
            throw Failure(
                .usage,
                "\(path.quoted) is not a directory",
                fix: "Name the directory that holds the app's sources."
            )
        }
        visit(path, status, depth: 0)
    }

    private mutating func visit(_ directory: String, _ status: FileStatus, depth: Int) {
        let identity = Identity(device: status.device, inode: status.inode)
        guard directories.insert(identity).inserted else { return }
        let names: [String]
        do {
            names = try Files.list(directory)
        } catch {
            return project.skip(directory, error.errno.text)
        }
        for name in names { visit(name, in: directory, depth: depth) }
    }

    private mutating func visit(_ name: String, in directory: String, depth: Int) {
        let path = directory == "/" ? "/" + name : directory + "/" + name
        guard let status = Files.status(path, followLinks: false) else {
            return project.skip(path, "it is gone, or its name is not UTF-8")
        }
        // A link may lead back here.
        let target = status.kind == .link ? Files.status(path)?.kind : status.kind
        let entry = ProjectEntry(name, isDirectory: target == .directory)
        switch entry {
        case .other, .skipped: return
        case .source, .infoPlist, .xcodeProject, .folder: break
        }
        guard status.kind != .link else {
            return project.skip(
                path,
                "it is a link, and links are not followed; name its target",
                isMissed: false
            )
        }
        switch entry {
        case .other, .skipped: return
        case .folder:
            guard depth < ProjectEntry.depthLimit else {
                return project.skip(path, "it is too deep")
            }
            visit(path, status, depth: depth + 1)
        case .xcodeProject:
            let file = path + "/project.pbxproj"
            guard Files.status(file, followLinks: false)?.kind == .file else { return }
            add(file, limit: XcodeProject.sizeLimit, isMissed: false) {
                $0.addXcodeProject($1, file: file)
            }
        case .source: add(path) { $0.addSource($1, file: path) }
        case .infoPlist:
            let folder = Files.name(of: Files.resolved(directory) ?? directory)
            add(path) { $0.addPropertyList($1, file: path, folder: folder) }
        }
    }

    private mutating func add(
        _ path: String,
        limit: Int = ProjectEntry.sizeLimit,
        isMissed: Bool = true,
        _ read: (inout PortedProject, [UInt8]) -> Void
    ) {
        let bytes: [UInt8]
        do {
            bytes = try Files.readRegular(path, limit: limit)
        } catch {
            return project.skip(path, Self.reason(error.errno, limit), isMissed: isMissed)
        }
        read(&project, bytes)
    }

    private static func reason(_ errno: Errno, _ limit: Int) -> String {
        switch errno {
        case .invalid: "it is not a file"
        case .tooLarge: "it is larger than \(limit >> 20) MiB"
        default: errno.text
        }
    }
}
