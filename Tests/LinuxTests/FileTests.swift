import Linux
import TestKit
import Testing
import Vocabulary

struct FileTests {
    let scratch = ScratchDirectory()

    @Test func `a directory in place of a settings file is called one`() throws {
        for (path, reason) in [
            (scratch.path, "is a directory, not a file"), ("/dev/null", "is no regular file"),
        ] {
            let problem = #expect(throws: Diagnostic.self) { try ConfigurationText(file: path) }
            #expect(problem?.reason == reason && problem?.fix == "Put a file in its place.")
        }
    }

    @Test func `an error names the call, the path and the system's words`() throws {
        let path = scratch("absent")
        let error = #expect(throws: LinuxError.self) { try Files.read(path) }
        #expect(error == LinuxError("open", path, .noEntry))
        #expect(error?.description == "open \(path): No such file or directory")
        #expect(LinuxError("pipe2", "", .tooManyFiles).description == "pipe2: Too many open files")
    }

    @Test func `a file larger than the limit is refused with its path`() throws {
        let path = try scratch.write("large", String(repeating: "x", count: 101))
        #expect(throws: LinuxError("read", path, .tooLarge)) { try Files.read(path, limit: 100) }
        #expect(try Files.read(path, limit: 101).count == 101)
    }

    @Test func `replacing a file keeps the old one until the new one is whole`() throws {
        let path = try scratch.write("state", "old")
        let reader = try FileDescriptor(opening: path, .reading)
        try Files.replace(path, with: "new", permissions: 0o640)
        #expect(try scratch.read("state") == "new")
        #expect(String(decoding: try reader.readAll(limit: 100), as: UTF8.self) == "old")
        #expect(Files.status(path)?.permissions == 0o640)
        #expect(try Files.list(scratch.path) == ["state"])
    }

    @Test func `a replaced file keeps its mode`() throws {
        let path = try scratch.write("keys", "old", permissions: 0o640)
        try Files.replace(path, with: "new")
        #expect(Files.status(path)?.permissions == 0o640)
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can give files away"))
    func `a replaced file keeps its owner when root replaces it`() throws {
        let path = try scratch.write("keys", "old", permissions: 0o640)
        try Files.setOwner(path, user: 1234, group: 2345)
        try Files.replace(path, with: "new")
        let status = try #require(Files.status(path))
        #expect(status.permissions == 0o640)
        #expect((status.user, status.group) == (1234, 2345))
        // What is new there belongs to whom the directory does.
        try Files.makeDirectory(scratch("state"))
        try Files.setOwner(scratch("state"), user: 1234, group: 2345)
        try Files.replace(scratch("state/fresh"), with: "new")
        let fresh = try #require(Files.status(scratch("state/fresh")))
        #expect((fresh.user, fresh.group, fresh.permissions) == (1234, 2345, 0o600))
    }

    @Test func `a replacement that fails leaves nothing behind`() throws {
        try Files.makeDirectory(scratch("target"))
        try scratch.write("target/entry", "")
        #expect(
            throws: LinuxError(
                "rename",
                scratch("target") + ".\(CurrentProcess.pid).new",
                .isDirectory
            )
        ) {
            try Files.replace(scratch("target"), with: "text")
        }
        #expect(try Files.list(scratch.path) == ["target"])
    }

    @Test func `a descriptor is closed with its value`() throws {
        let number = try FileDescriptor(opening: scratch.path, [.reading, .directory]).number
        #expect(Files.linkTarget("/proc/self/fd/\(number)") != scratch.path)
    }

    @Test func `a non-blocking descriptor tells nothing yet from the end`() throws {
        var pipe = try Pipe(nonBlocking: true)
        #expect(try pipe.reading?.readAvailable(upTo: 10) == nil)
        try pipe.writing?.writeAll("ab")
        #expect(try pipe.reading?.readAvailable(upTo: 10) == Array("ab".utf8))
        pipe.writing = nil
        #expect(try pipe.reading?.readAvailable(upTo: 10) == [])
    }

    @Test func `directories are made with those above them and removed with all below`() throws {
        let deep = scratch("a/b/c")
        #expect(throws: LinuxError("mkdir", deep, .noEntry)) { try Files.makeDirectory(deep) }
        #expect(try Files.makeDirectory(deep, parents: true))
        #expect(try !Files.makeDirectory(deep))
        #expect(Files.status(scratch("a"))?.permissions == 0o700)
        try scratch.write("a/b/c/file", "text")
        try Files.removeTree(scratch("a"))
        #expect(!Files.exists(scratch("a")))
    }

    @Test func `programs are searched as a shell does`() throws {
        let program = try scratch.write("bin/tool", "#!/bin/sh\n", permissions: 0o755)
        try scratch.write("first/tool", "not executable")
        try Files.makeDirectory(scratch("second/tool"), parents: true)
        let path = "\(scratch("first")):\(scratch("second")):\(scratch("bin"))"
        #expect(Files.executable("tool", searchPath: path) == program)
        #expect(Files.executable("./tool", searchPath: path) == "./tool")
        #expect(Files.executable("other", searchPath: path) == nil)
    }

    @Test func `a lock of one byte leaves the others free and ends with its holder`() throws {
        let path = scratch("lock")
        let daemon = try LockFile(path)
        #expect(try daemon.tryLock(0))
        try daemon.sign()
        do {
            let second = try LockFile(path)
            #expect(try !second.tryLock(0))
            #expect(try second.isLocked(0))
            #expect(try !second.isLocked(1))
            #expect(try second.tryLock(1))
            #expect(try second.signature() == ProcessIdentity(of: CurrentProcess.pid))
            #expect(try daemon.isLocked(1))
        }
        #expect(try !daemon.isLocked(1))
    }

    @Test func `one that waits for a lock to be free does not look like a holder`() throws {
        let path = scratch("lock")
        let daemon = try LockFile(path)
        #expect(try daemon.tryLock(0))
        let other = try LockFile(path)
        try daemon.unlock(0)
        try other.waitUntilFree(0)
        #expect(try daemon.tryLock(0))
    }

    @Test func `inotify names what happened in a directory`() throws {
        let watch = try Inotify()
        let number = try watch.add(scratch.path, .entries)
        #expect(try watch.events() == [])
        try Files.makeDirectory(scratch("sub"))
        try FileDescriptor(opening: scratch("file"), [.writing, .create]).writeAll("x")
        let events = try watch.events()
        #expect(events.contains(.init(watch: number, mask: [.created, .isDirectory], name: "sub")))
        #expect(events.contains(.init(watch: number, mask: .closedAfterWriting, name: "file")))
        try watch.remove(number)
        #expect(try watch.events().map(\.mask) == [.ignored])
        #expect(throws: LinuxError("inotify_add_watch", scratch("no"), .noEntry)) {
            try watch.add(scratch("no"), .entries)
        }
    }

    @Test func `locks of every kind are found with their paths, other files' are not`() throws {
        let path = scratch("locked")
        let holder = try LockFile(path)
        #expect(try holder.tryLock(0))
        _ = try LockFile(scratch("free"))
        let locks = FileLock.held(by: CurrentProcess.pid).filter {
            $0.path?.hasPrefix(scratch.path) == true
        }
        #expect(locks.map(\.path) == [path])
        #expect(locks.map(\.kind) == [.openFile])
        #expect(locks.map(\.isExclusive) == [true])
        #expect(locks.first?.inode == Files.status(path)?.inode)
    }

    @Test func `lines of /proc/locks are read, those that wait left out`() {
        let text = """
            1: POSIX  ADVISORY  WRITE 1234 08:01:131073 0 EOF
            1: -> POSIX  ADVISORY  WRITE 1235 08:01:131073 0 EOF
            2: FLOCK  ADVISORY  READ 77 00:1a:9 0 EOF
            3: OFDLCK ADVISORY  WRITE -1 fe:00:5 3 3
            nonsense
            4: POSIX  ADVISORY  WRITE x 08:01:1 0 EOF
            """
        let locks = FileLock.parse(text)
        #expect(locks.map(\.pid) == [1234, 77, -1])
        #expect(locks.map(\.inode) == [131_073, 9, 5])
        #expect(locks.map(\.kind) == [.posix, .flock, .openFile])
        #expect(locks.map(\.device) == ["08:01", "00:1a", "fe:00"])
        #expect(locks.map(\.isExclusive) == [true, false, true])
    }
}
