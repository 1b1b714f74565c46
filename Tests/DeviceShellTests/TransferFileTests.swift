@testable import DeviceCore
@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary

/// The files and directories of transfers, without a daemon around them.
struct TransferFileTests {
    private let scratch = ScratchDirectory()

    private func makeDirectory(_ name: String) throws -> String {
        try Files.makeDirectory(scratch(name), permissions: 0o755)
        return scratch(name)
    }

    /// Directories of the test that are open here.
    private var open: Int {
        get throws {
            try Files.list("/proc/self/fd").count {
                Files.linkTarget("/proc/self/fd/\($0)")?.hasPrefix(scratch.path + "/to-") == true
            }
        }
    }

    @Test func `what cannot be started leaves no directory open`() throws {
        let loop = try EventLoop()
        var ends = 0
        let transfers = Transfers(
            loop,
            program: scratch("missing"),
            control: SignalControl(LaunchMarkers(scratch("launches")), refused: []),
            clock: { Clocks.now().wall }
        ) { _, event in
            if case .ended(.interrupted, _) = event { ends += 1 }
        }
        for number in 1...5 as ClosedRange<UInt64> {
            let path = try makeDirectory("to-\(number)")
            let file = TransferFile(directory: path, partialName: ".a")
            let order = ExchangeOrder(url: "http://a/", errors: .fail, timeout: .seconds(30))
            transfers.perform(.begin(order, file), TransferID(number))
            #expect(try open == 1, "until the turn is over")
            _ = try loop.runTurn()
            #expect(try open == 0)
        }
        #expect(ends == 5)
    }

    /// How it ends; nil: its file was opened.
    private func begin(_ path: String) throws -> TransferEvent? {
        let loop = try EventLoop()
        var events: [TransferEvent] = []
        let transfers = Transfers(
            loop,
            program: scratch("missing"),
            control: SignalControl(LaunchMarkers(scratch("launches")), refused: []),
            clock: { Clocks.now().wall }
        ) { _, event in events.append(event) }
        let file = TransferFile(directory: path, partialName: ".partial")
        let order = ExchangeOrder(url: "http://a/", errors: .fail, timeout: .seconds(30))
        transfers.perform(.begin(order, file), TransferID(1))
        _ = try loop.runTurn()
        if case .opened = events.first { return nil }
        return events.first
    }

    @Test func `a file that another process may still write is left alone until that is gone`()
        throws
    {
        let path = try makeDirectory("to-here")
        scratch.write("some of it", to: "to-here/.partial")
        var other: FileDescriptor? = try FileDescriptor(opening: path + "/.partial", .both)
        let isLocked = try other?.tryLock() ?? false
        #expect(isLocked)
        guard case .ended(.interrupted(let interruption), durable: nil) = try begin(path) else {
            throw DidNotHappen(description: "an interruption")
        }
        #expect(interruption.cause == .shortage)
        #expect(interruption.reason == "another process still has its unfinished file")
        #expect(try scratch.read("to-here/.partial") == "some of it")
        other = nil
        // A program that another test starts may have it for a moment.
        try Wait.until("it is opened") { try begin(path) == nil }
    }

    @Test(arguments: [0o600, 0o640, 0o666] as [UInt16])
    func `a part has the permissions of its file, whatever it had and our umask says`(
        permissions: UInt16
    ) throws {
        let path = try makeDirectory("to-here")
        scratch.write("older", to: "to-here/.older")
        try Files.setPermissions(path + "/.older", 0o644)
        let files = TransferFiles(directories: TurnDirectory(try EventLoop()))
        for name in [".new", ".older"] {
            var file = TransferFile(directory: path, partialName: name)
            file.permissions = permissions
            _ = try files.open(file, durable: 0)
            #expect(Files.status("\(path)/\(name)")?.permissions == UInt32(permissions))
        }
    }

    @Test func `a part of which nothing is said keeps its permissions`() throws {
        let path = try makeDirectory("to-here")
        scratch.write("older", to: "to-here/.partial")
        try Files.setPermissions(path + "/.partial", 0o604)
        let files = TransferFiles(directories: TurnDirectory(try EventLoop()))
        let file = TransferFile(directory: path, partialName: ".partial")
        _ = try files.open(file, durable: 0)
        #expect(Files.status(path + "/.partial")?.permissions == 0o604)
    }

    /// Whose file it is, by the number that it had when it was opened last; nil: it never was.
    @Test(arguments: [nil, "to-1", "to-2", "to-there", "none"])
    func `what was fetched is brought from wherever it is, and all else is removed`(
        whose: String?
    ) throws {
        let path = try makeDirectory("to-there")
        let formers = try ["to-1", "to-2", "to-3"].map(makeDirectory)
        for name in ["to-1", "to-2", "to-there"] {
            scratch.write(name, to: name + "/.partial")
        }
        var file = TransferFile(
            directory: path,
            partialName: ".partial",
            formers: [scratch("to-0")] + formers,
            inode: whose.map {
                Files.status(scratch($0 + "/.partial"))?.inode ?? UInt64.max
            }
        )
        let files = TransferFiles(directories: TurnDirectory(try EventLoop()))
        if whose == "none" {
            #expect(throws: TransferFiles.Problem.self) { _ = try files.open(file, durable: 4) }
        } else {
            _ = try files.open(file, durable: 4)
            #expect(try scratch.read("to-there/.partial") == whose ?? "to-there")
        }
        for former in formers { #expect(try Files.list(former) == []) }
        // Wherever it may be, nothing is left of it.
        file.formers.append(path + "/.")
        for place in formers + [path] {
            try Files.replace(place + "/.partial", with: "a", permissions: 0o644)
        }
        files.discard(file)
        for place in formers + [path] { #expect(try Files.list(place) == []) }
    }

    @Test func `a directory that has two paths keeps its part`() throws {
        let path = try makeDirectory("to-here")
        scratch.write("all of it", to: "to-here/.partial")
        let files = TransferFiles(directories: TurnDirectory(try EventLoop()))
        let inode = try #require(Files.status(path + "/.partial")).inode
        for inode in [nil, inode] {
            let file = TransferFile(
                directory: path,
                partialName: ".partial",
                formers: [path + "/."],
                inode: inode
            )
            _ = try files.open(file, durable: 9)
            #expect(try scratch.read("to-here/.partial") == "all of it")
        }
    }

    @Test func `who needs a directory for longer shares it, while its path leads there`() throws {
        let loop = try EventLoop()
        let directories = TurnDirectory(loop)
        let path = try makeDirectory("to-here")
        let first = try directories.open(path)
        for _ in 1...3 {
            _ = try loop.runTurn()
            #expect(try directories.open(path) === first)
            #expect(try open == 1)
        }
        _ = try loop.runTurn()
        #expect(try Command("mv", path, scratch("to-there")).run().succeeded)
        _ = try makeDirectory("to-here")
        #expect(try directories.open(path) !== first)
        #expect(try directories.open(scratch("to-there")) === first)
    }

    /// Where a name is given in two steps, and the daemon died between them.
    @Test func `a file that has both of its names is in place, and loses the first`() throws {
        let path = try makeDirectory("to-here")
        scratch.write("all of it", to: "to-here/.partial")
        let inode = try #require(Files.status(path + "/.partial")).inode
        #expect(try Command("ln", path + "/.partial", path + "/file").run().succeeded)
        var placement = Placement(
            file: TransferFile(directory: path, partialName: ".partial", inode: inode),
            name: "file",
            overwrites: false
        )
        let files = TransferFiles(directories: TurnDirectory(try EventLoop()))
        #expect(files.place([(TransferID(1), placement)]).map(\.event) == [.placed(name: "file")])
        #expect(try Files.list(path) == ["file"])
        // Somebody else's is none of ours.
        scratch.write("another", to: "to-here/.partial")
        placement.file.inode = try #require(Files.status(path + "/.partial")).inode
        let events = files.place([(TransferID(1), placement)]).map(\.event)
        #expect(events == [.notPlaced(.exists("file"))])
        #expect(try Files.list(path).count == 2)
    }

    private func place(
        _ path: String,
        _ status: FileStatus,
        overwrites: Bool = false
    ) throws -> [TransferEvent] {
        let placement = Placement(
            file: TransferFile(directory: path, partialName: ".partial", inode: status.inode),
            name: "file",
            overwrites: overwrites,
            size: status.size
        )
        let files = TransferFiles(directories: TurnDirectory(try EventLoop()))
        return files.place([(TransferID(1), placement)]).map(\.event)
    }

    @Test(arguments: [
        "mv .partial moved; echo another > .partial", "mv .partial moved; ln -s moved .partial",
        "mv .partial moved; mkfifo .partial", "mv .partial moved", "truncate -s 3 .partial",
    ])
    func `what is not all of the file that was fetched gets no name`(change: String) throws {
        let path = try makeDirectory("to-here")
        scratch.write("all of it", to: "to-here/.partial")
        let status = try #require(Files.status(path + "/.partial"))
        #expect(try Command("sh", "-c", "cd '\(path)'; \(change)").run().succeeded)
        #expect(try place(path, status) == [.lost])
        #expect(try Files.list(path).filter { $0 != "moved" } == [])
    }

    @Test func `a complete file outlives what is lacking for now, and nothing else`() {
        func event(_ errno: Errno) -> TransferEvent {
            TransferFiles.notPlaced(LinuxError("rename", "file", errno), "file")
        }
        for errno in [Errno.noSpace, .quota] {
            #expect(event(errno) == .placementInterrupted(.init(.diskFull)))
        }
        let others: [Errno] = [
            .noMemory, .tooManyFiles, .tooManyFilesInSystem, .access, .readOnly,
        ]
        for errno in others {
            guard case .placementInterrupted(let why) = event(errno), why.cause == .shortage else {
                Issue.record("\(event(errno))")
                continue
            }
        }
        #expect(event(.exists) == .notPlaced(.exists("file")))
        let gone = LinuxError("open", "/home/user/gone", .noEntry)
        let reason = "the directory /home/user/gone is not there"
        let failure = TransferFailure(code: .file, reason: reason)
        #expect(TransferFiles.notPlaced(gone, "file") == .notPlaced(failure))
        for errno in [Errno.inputOutput, .permission] {
            let isFinal = if case .notPlaced = event(errno) { true } else { false }
            #expect(isFinal, "\(event(errno))")
        }
    }

    @Test func `a login that cannot be read for now costs nothing of what has come`() {
        func end(_ errno: Errno) -> ExchangeEnd {
            let error = LinuxError("openat", "netrc", errno)
            return CredentialReader.Problem(reason: "", path: "netrc", cause: error).end
        }
        for errno in [Errno.noMemory, .tooManyFiles, .tooManyFilesInSystem] {
            guard case .interrupted(let why) = end(errno), why.cause == .shortage else {
                Issue.record("\(end(errno))")
                continue
            }
        }
        for errno in [Errno.access, .noEntry] {
            guard case .failed(let failure) = end(errno), failure.code == .credentials else {
                Issue.record("\(end(errno))")
                continue
            }
        }
    }

    @Test(arguments: [("mkfifo file", "a pipe"), ("mkdir file", "a directory")])
    func `only files and links are replaced`(make: String, noun: String) throws {
        let path = try makeDirectory("to-here")
        scratch.write("all of it", to: "to-here/.partial")
        let status = try #require(Files.status(path + "/.partial"))
        #expect(try Command("sh", "-c", "cd '\(path)'; \(make)").run().succeeded)
        let reason = "file is \(noun), which is not replaced"
        let failure = TransferFailure(code: .file, reason: reason)
        #expect(try place(path, status, overwrites: true) == [.notPlaced(failure)])
        #expect(Files.status(path + "/file")?.kind.noun == noun)
    }

    @Test func `a link is replaced, and a directory that is one is named`() throws {
        let path = try makeDirectory("to-here")
        scratch.write("all of it", to: "to-here/.partial")
        let status = try #require(Files.status(path + "/.partial"))
        #expect(try Command("ln", "-s", "nothing", path + "/file").run().succeeded)
        #expect(try Command("ln", "-s", path, scratch("to-link")).run().succeeded)
        let link = scratch("to-link")
        let reason =
            "\(link) is a symbolic link, which is not followed; "
            + "name the directory that it leads to"
        let failure = TransferFailure(code: .file, reason: reason)
        #expect(try place(link, status) == [.notPlaced(failure)])
        #expect(try place(path, status, overwrites: true) == [.placed(name: "file")])
        #expect(try Files.text(path + "/file") == "all of it")
    }

    @Test(arguments: ControlStep.Kind.allCases)
    func `with others in its place, markers lead to nothing of ours`(kind: ControlStep.Kind) {
        let own = SignalControl(LaunchMarkers(scratch("launches")), refused: [])
        var step = own.step
        #expect(step.reach(own, from: .other) == nil)
        #expect(step.reach(own, from: .own) is SignalControl)
        #expect(step.reach(own, from: .nothing) is SignalControl)
        (step.kind, step.path) = (kind, scratch("scope"))
        #expect(!(step.reach(own, from: .other) is SignalControl))
    }
}
