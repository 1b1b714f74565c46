@testable import AppProtocol
import Testing
import Vocabulary

/// Calls and replies as D-Bus carries them: what one side writes the other reads, also when one of
/// them is of another version.
struct CallTests {
    private static let calls: [any Call] = [
        Control1.Status(), Control1.Overview { $0.rows = 10 }, Control1.Tasks { $0.app = "a" },
        Control1.Explain { ($0.app, $0.task) = ("a", "t") },
        Control1.Explain { $0.transfers = [7, 9] },
        Control1.History { ($0.app, $0.limit, $0.before) = ("a", 7, 9) },
        Control1.Logs { ($0.app, $0.lines) = ("a", 3) },
        Control1.Open { ($0.app, $0.attach) = ("a", 7) }, Control1.Leave { $0.app = "a" },
        Control1.Submit {
            ($0.kind, $0.command, $0.id) = (.processing, ["a", "b"], "x")
            ($0.after, $0.every) = (.seconds(90), .days(1))
            $0.needs = Needs(power: true, network: true, unmetered: true, unlocked: true)
            ($0.directory, $0.environment, $0.token) = ("/", ["A=B"], "t")
        },
        Control1.Submit {
            ($0.kind, $0.command) = (.refresh, ["a"])
            $0.earliest = WallTime(nanoseconds: 1_700_000_000_250_000_000)
        },
        Control1.Pause { $0.seconds = .hours(1) }, Control1.Continue(),
        Control1.TransferPage(), Control1.TransferPage { $0.transfers = [7, 9] },
        Control1.TransferProgress(),
        Control1.TransferProgress { ($0.transfers, $0.rows, $0.ended) = ([7, 9], 24, 250) },
        Control1.Dismiss { $0.app = "a" }, Control1.Dismiss { $0.all = true },
        Control1.Simulate { ($0.what, $0.app, $0.task) = (.expire, "a", "t") },
        Control1.Set { ($0.name, $0.value, $0.app) = ("battery", "40", "a") },
        App1.Hello {
            ($0.version, $0.path, $0.running) = (1, "/a", [DeliveryID(3)])
            $0.finished = [App1.Finished(DeliveryID(4), .noData)]
            $0.registered = ["news"]
        },
        App1.FinishedLaunching { $0.registered = ["news"] },
        App1.ExpirationHandler { ($0.delivery, $0.isSet) = (DeliveryID(3), true) },
        App1.Complete { ($0.delivery, $0.result) = (DeliveryID(3), .newData) },
        App1.SetMinimumFetchInterval { $0.seconds = 1.5 },
        App1.Mistaken { ($0.mistake, $0.subject) = (.registeredLate, "news") },
        App1.Submit {
            ($0.identifier, $0.kind, $0.token) = ("news", .refresh, "t")
            $0.earliest = WallTime(nanoseconds: 1_700_000_000_250_000_000)
        },
        App1.BeginTask { ($0.name, $0.expires, $0.isActivity) = ("send", true, true) },
        App1.EndTask { $0.task = 3 },
        AppObject1.Offer {
            ($0.delivery, $0.kind, $0.identifier) = (DeliveryID(3), Word(.fetch), "x")
            $0.payload = ["news": [1]]
        },
        AppObject1.Expire {
            ($0.delivery, $0.reason, $0.deadline) = (DeliveryID(3), Word(.timeout), 7.5)
        },
        AppObject1.ExpireTask { ($0.task, $0.reason) = (3, Word(.timeout)) },
        AppObject1.EnterBackground {
            ($0.deadline, $0.work) = (3, [AppObject1.Work(DeliveryID(4), deadline: 7)])
        },
        AppObject1.OpenURLs { ($0.opening, $0.urls) = (2, ["x:1", "x:2"]) },
        AppObject1.MemoryWarning { ($0.memory, $0.memoryLimit) = (1, 2) },
        AppObject1.Changed { $0.backgroundRefresh = Word(text: "denied") },
    ]

    private static func checkReading<C: Call>(_ call: C) throws {
        let encoded = call.encoded
        #expect(try C(encoded.arguments, strictly: true) == call, "\(encoded)")
        #expect(encoded.arguments.count == C.row.method.input.count, "\(encoded)")
        #expect(encoded.signature == C.row.method.inputSignature)
        for (argument, value) in zip(C.row.method.input, encoded.arguments) {
            let kind = [
                "s": "string", "b": "bool", "d": "double", "t": "integer", "x": "integer",
                "as": "list",
            ]
            #expect(value.kindName == kind[argument.type] ?? "map", "\(C.name) \(argument)")
        }
    }

    @Test func `what is written is read as it was, by the types of the table`() throws {
        for call in Self.calls { try Self.checkReading(call) }
    }

    @Test func `a zero byte, which no text of D-Bus has, keeps no message from being sent`() throws
    {
        let submit = App1.Submit { ($0.identifier, $0.kind) = ("a\0b", .refresh) }
        #expect(submit.encoded.arguments.first == "a\u{FFFD}b")
        let hello = App1.Hello { ($0.path, $0.registered) = ("/a", ["x\0", "y"]) }
        #expect(hello.encoded.arguments.contains { "\($0)".contains("\u{FFFD}") })
        let app = Report.App { ($0.name, $0.problem) = ("a\0", "\0b\0") }
        let sent = try Reported(app).sent
        #expect(sent.first?["name"] == "a\u{FFFD}")
        #expect(sent.first?["problem"] == "\u{FFFD}b\u{FFFD}")
        let end = LogEnd(app: "a", file: "/a", bytes: [0x61, 0])
        #expect(try end.sent.first?["text"] == "a\u{FFFD}")
        #expect(try LogEnd(end.sent).written == [0x61, 0])
        #expect(LogEnd(app: "a", file: "/a", bytes: [0x61]).bytes == nil)
    }

    @Test(arguments: [("", false), ("a", true)])
    func `an empty name does not mean all`(_ app: String, _ all: Bool) throws {
        let call = Control1.Dismiss { ($0.app, $0.all) = (app, all) }
        let error = #expect(throws: OptionError.self) {
            try Control1.Dismiss(call.encoded.arguments, strictly: true)
        }
        #expect(error?.fix == "give either an app or all")
    }

    /// As the calls that take both begin it: what D-Bus carries, and the text that refuses it.
    @Test func `a beginning is said in one way`() {
        let both: ValueMap = ["after": 60, "earliest": 1_700_000_000]
        func options(_ more: ValueMap) -> Value {
            var options = both
            for entry in more.entries { options[entry.key] = entry.value }
            return .map(options)
        }
        func refusal(_ read: () throws(OptionError) -> Void) -> OptionError? {
            do throws(OptionError) {
                try read()
                return nil
            } catch {
                return error
            }
        }
        let errors = [
            refusal { () throws(OptionError) in
                let given = options(["kind": "refresh", "command": ["true"]])
                _ = try Control1.Submit([given], strictly: true)
            },
            refusal { () throws(OptionError) in
                let given = options(["directory": "/tmp"])
                _ = try Control1.Download([[["url": "http://h/a"]], given], strictly: true)
            },
            refusal { () throws(OptionError) in
                let file: Value = ["url": "http://h/a", "file": "/a"]
                _ = try Control1.Upload([[file], options([:])], strictly: true)
            },
        ]
        for error in errors {
            #expect(error?.reason == "both after and earliest are given")
            #expect(error?.fix == "give either after or earliest")
        }
    }

    @Test func `what is explained is an app or transfers`() throws {
        let calls = [
            Control1.Explain { ($0.app, $0.transfers) = ("a", [1]) },
            Control1.Explain { ($0.task, $0.transfers) = ("t", [1]) },
        ]
        for call in calls {
            let error = #expect(throws: OptionError.self) {
                try Control1.Explain(call.encoded.arguments, strictly: true)
            }
            #expect(error?.fix == "give either an app or transfers")
        }
    }

    @Test func `many files are sent in as many calls as it takes, in their order`() throws {
        func parts(_ count: Int, _ length: Int) -> [[Control1.DownloadFile]] {
            let end = String(repeating: "x", count: length)
            let call = Control1.Download { call in
                call.files = (0..<count).map { Control1.DownloadFile(url: "http://h/\($0)/\(end)") }
                call.directory = "/tmp"
            }
            let parts = call.parts.map(\.files)
            #expect(Array(parts.joined()) == call.files)
            return parts
        }
        #expect(parts(10_000, 20).map(\.count) == [10_000])
        #expect(parts(20_001, 20).map(\.count) == [10_000, 10_000, 1])
        #expect(parts(2, 5 << 20).map(\.count) == [1, 1])
        let long = parts(1000, 4_000)
        #expect(long.count == 2 && long[0].count > long[1].count)
    }

    /// As the daemon counts what it reads.
    private static func size(_ value: Value) -> Int {
        switch value {
        case .null, .bool, .integer, .double: Value.overhead
        case .string(let text): Value.overhead + text.utf8.count
        case .bytes(let bytes): Value.overhead + bytes.count
        case .list(let list): list.reduce(Value.overhead) { $0 + size($1) }
        case .map(let map):
            map.entries.reduce(Value.overhead) {
                $0 + 2 * Value.overhead + $1.key.utf8.count + size($1.value)
            }
        }
    }

    @Test func `no call has more than the daemon reads, whatever is said of its files`() {
        var task = App1.TransferTask()
        (task.task, task.url, task.method) = (1 << 40, "http://h/", "PUT")
        (task.descriptor, task.resume, task.headers) = (7, "r", ["a: b"])
        (task.description, task.discretionary, task.needs.unmetered) = ("d", true, true)
        task.earliest = WallTime(nanoseconds: 1_700_000_000_250_000_000)
        (task.timeout, task.resourceTimeout) = (.seconds(60), .days(7))
        (task.expectsToSend, task.expectsToReceive, task.priority) = (1, 1, 250)
        let parts = Array(repeating: task, count: 10_000).callParts
        #expect(parts.count > 1)
        for part in parts {
            let call = App1.EnqueueTasks { ($0.session, $0.token, $0.tasks) = ("s", "t", part) }
            let size = call.encoded.arguments.reduce(0) { $0 + Self.size($1) }
            #expect(size <= Control1.mostArgumentBytes)
        }
    }

    @Test func `a list that is too long is refused by its length`() throws {
        let files = Array(repeating: Value.map(["url": "http://h/a"]), count: 10_001)
        let error = #expect(throws: OptionError.self) {
            try Control1.Download([.list(files), ["directory": "/tmp"]], strictly: true)
        }
        #expect(error?.value == "10001 elements")
    }

    @Test func `a URL may be as long as every part of the way takes it`() throws {
        func read(_ length: Int) throws {
            let start = "http://h/"
            let url = start + String(repeating: "a", count: length - start.utf8.count)
            let upload: Value = [["url": .string(url), "file": "/a"]]
            let download: [Value] = [[["url": .string(url)]], ["directory": "/tmp"]]
            _ = try Control1.Upload([upload, [:]], strictly: true)
            _ = try Control1.Download(download, strictly: true)
        }
        try read(ExchangeOrder.longestURL)
        let error = #expect(throws: OptionError.self) { try read(ExchangeOrder.longestURL + 1) }
        #expect(error?.reason == "url is too long" && error?.fix == "at most 8192 bytes")
    }

    @Test func `a pause has one end`() throws {
        let call = Control1.Pause {
            $0.seconds = .hours(1)
            $0.until = WallTime(nanoseconds: 1_700_000_000_250_000_000)
        }
        let error = #expect(throws: OptionError.self) {
            try Control1.Pause(call.encoded.arguments, strictly: true)
        }
        #expect(error?.fix == "give either seconds or until")
    }

    // MARK: Versions

    @Test func `an older daemon refuses a later client's option by name`() throws {
        let error = try #require(throws: OptionError.self) {
            try Control1.Pause([["seconds": 1.5, "politely": true]], strictly: true)
        }
        #expect(error.value == "politely")
        #expect(throws: OptionError.self) {
            try App1.Submit(["a", ["kind": "later"]], strictly: true)
        }
        #expect(App1.row("Later") == nil)
    }

    @Test func `an older app ignores a later daemon's options`() throws {
        let row = try #require(AppObject1.row("Go"))
        let go = try row.call([3, ["deadline": 1.5, "politely": true]])
        #expect(go == .go(AppObject1.Go { ($0.delivery, $0.deadline) = (DeliveryID(3), 1.5) }))
        #expect(AppObject1.row("Later") == nil)
    }

    @Test func `a reply may have more than is known; one that lacks something says what`() throws {
        let task = try RequestedTask([["app": "a", "identifier": "b", "request": 7, "later": [1]]])
        #expect(task == RequestedTask(app: AppID("a"), identifier: "b", request: RequestID(7)))
        let greeting = try Greeting([
            [
                "app": "a", "launch": 1, "state": "later", "background-refresh": "later",
                "later": true,
            ]
        ])
        let status = greeting.backgroundRefresh
        #expect(greeting.features == nil && status.known == nil && status.text == "later")
        #expect(try BegunTask([3, ["later": 1]]) == BegunTask(task: 3))
        #expect(try Done([[:]]).values == [[:]])
        let pending = try PendingRequests([[["identifier": "a", "kind": "later", "later": 1]]])
        #expect(pending.requests.map(\.kind.known) == [nil])
        let error = try #require(throws: ValueError.self) {
            try RequestedTask([["app": "a", "identifier": "b"]])
        }
        #expect("\(error)".contains("request"))
        #expect(throws: ValueError.self) { try BegunTask([]) }
        #expect(throws: ValueError.self) { try Greeting([]) }
    }

    @Test func `each reply is written as the table declares it`() throws {
        func kinds(_ reply: some CallReply) throws -> [String] {
            try reply.values.map(\.kindName)
        }
        #expect(try kinds(Nothing()) == [] && kinds(Done()) == ["map"])
        #expect(try kinds(BegunTask(task: 1, deadline: 2)) == ["integer", "map"])
        #expect(BegunTask(task: 1, deadline: 2).values == [1, ["deadline": 2.0]])
        #expect(try kinds(PendingRequests(requests: [])) == ["list"])
        var limits = Limits(state: .background)
        limits.memoryLimit = 7
        #expect(try limits.values == [["state": "background", "memory-limit": 7]])
    }
}
