package import Vocabulary

/// The desktop files in directories of applications, and in the directories below them.
package struct DesktopFiles {
    /// The more important first; of two files with one id the first counts.
    package let directories: [String]

    /// Files that are looked at, and how deep.
    package static let fileLimit = 10_000
    package static let depthLimit = 4

    package struct Entry {
        package let id: AppID
        package let path: String
        /// Nil: what is there cannot be looked at.
        package let status: FileStatus?
    }

    package init(directories: [String]) { self.directories = directories }

    /// Those that this program's environment names.
    package static func ofEnvironment() -> DesktopFiles {
        DesktopFiles(
            directories: DesktopFileID.directories(
                dataHome: CurrentProcess.environment("XDG_DATA_HOME"),
                dataDirectories: CurrentProcess.environment("XDG_DATA_DIRS"),
                home: BaseDirectory.home()
            )
        )
    }

    /// What was found, and which directories could not be looked into.
    package struct Listing {
        /// The directories that were looked into, as of `trees()`.
        package var trees: [(directory: String, below: [String])] = []
        /// In the order in which they count; one id may come more than once.
        package var entries: [Entry] = []
        /// Each with its directory as the subject: there, and whatever is in it and below it is
        /// not known.
        package var unreadable: [LinuxError] = []

        /// The error of the first directory among them that a path is below.
        package func problem(above path: String) -> LinuxError? {
            unreadable.first { path.hasPrefix($0.subject + "/") }
        }
    }

    package func entries() -> [Entry] { listing().entries }

    package func listing() -> Listing {
        let found = search()
        var listing = Listing(trees: found.trees, unreadable: found.unreadable)
        for (directory, below) in found.trees {
            for folder in [directory] + below {
                let names: [String]
                do throws(LinuxError) {
                    names = try Files.list(folder)
                } catch {
                    let isKnown = listing.unreadable.contains { $0.subject == folder }
                    if !isKnown, !Files.isMissing(folder) { listing.unreadable.append(error) }
                    continue
                }
                for name in names where name.hasSuffix(".desktop") {
                    let path = folder + "/" + name
                    let relative = String(path.dropFirst(directory.count + 1))
                    guard listing.entries.count < Self.fileLimit,
                        let id = DesktopFileID.id(relativePath: relative)
                    else { continue }
                    let status = Files.status(path)
                    // Removed since the directory was read.
                    if status == nil, Files.status(path, followLinks: false) == nil,
                        Files.isMissing(path)
                    {
                        continue
                    }
                    listing.entries.append(Entry(id: id, path: path, status: status))
                }
            }
        }
        return listing
    }

    /// Directories that are there, and whose files cannot be listed.
    package func problems() -> [LinuxError] { listing().unreadable }

    /// The directories with what is below each. Links may form a cycle, or lead twice to one place,
    /// so each real directory is read once: at its own path if that is below one of them, else by
    /// the first link to it.
    package func trees() -> [(directory: String, below: [String])] { search().trees }

    private func search() -> (
        trees: [(directory: String, below: [String])], unreadable: [LinuxError]
    ) {
        var unreadable: [LinuxError] = []
        var seen: Set<RealDirectory> = []
        for directory in directories {
            if let status = Files.status(directory) { seen.insert(RealDirectory(status)) }
        }
        var links: [(tree: Int, path: String, depth: Int)] = []
        var trees = directories.map { (directory: $0, below: [String]()) }
        func walk(_ path: String, _ tree: Int, _ depth: Int) {
            guard depth <= Self.depthLimit else { return }
            let names: [String]
            do throws(LinuxError) {
                names = try Files.list(path)
            } catch {
                if !Files.isMissing(path) { unreadable.append(error) }
                return
            }
            for name in names where !name.hasPrefix(".") && !name.hasSuffix(".desktop") {
                let child = path + "/" + name
                if Files.status(child, followLinks: false)?.kind == .link {
                    links.append((tree, child, depth))
                } else {
                    enter(child, tree, depth)
                }
            }
        }
        func enter(_ path: String, _ tree: Int, _ depth: Int) {
            guard let status = Files.status(path) else {
                let above = Files.directory(of: path)
                // Its directory may be listed, and not be searched.
                if Files.status(path, followLinks: false) == nil, !Files.isMissing(path),
                    unreadable.last?.subject != above
                {
                    unreadable.append(LinuxError("stat", above, .access))
                }
                return
            }
            guard status.kind == .directory,
                seen.insert(RealDirectory(status)).inserted
            else { return }
            trees[tree].below.append(path)
            walk(path, tree, depth + 1)
        }
        for (tree, directory) in directories.enumerated() { walk(directory, tree, 1) }
        var next = 0
        while next < links.count {
            enter(links[next].path, links[next].tree, links[next].depth)
            next += 1
        }
        return (trees, unreadable)
    }

    /// A directory, whatever names lead to it.
    private struct RealDirectory: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
    }
}
