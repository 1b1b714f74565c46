@testable import AppProtocol
import Linux
import Testing
import Vocabulary

/// What apps send with their calls: taken within its bounds, or refused in words.
struct AppCallTests {
    private static func read<C: Call>(
        _ type: C.Type,
        _ arguments: Value...
    ) throws(OptionError) -> C {
        try C(arguments, strictly: true)
    }

    @Test func `hello takes what it names`() throws {
        let hello = try Self.read(
            App1.Hello.self,
            [
                "version": 1, "path": "/org/example/app_1", "running": [3, 4],
                "finished": [["delivery": 5, "result": "newData"]], "registered": ["news"],
            ]
        )
        #expect(hello.path == "/org/example/app_1" && hello.isAgain)
        #expect(hello.running == [DeliveryID(3), DeliveryID(4)])
        #expect(hello.finished == [App1.Finished(DeliveryID(5), .newData)])
        #expect(hello.registered == ["news"])
        let first = try Self.read(App1.Hello.self, ["version": 1])
        #expect(first.path == nil && !first.isAgain)
        let again = try Self.read(App1.Hello.self, ["version": 1, "running": []])
        #expect(again.isAgain && again.registered == nil)
    }

    @Test(
        arguments: [
            ([:], "protocol is missing"), (["version": 2], "does not speak"),
            (["version": "1"], "version"), (["version": 1, "colour": 1], "colour"),
            (["version": 1, "path": ""], "path"), (["version": 1, "path": "/a//b"], "path"),
            (["version": 1, "path": "/a-b"], "path"), (["version": 1, "running": [-1]], "running"),
            (["version": 1, "running": 3], "running"),
            (["version": 1, "finished": [["delivery": 1]]], "result is missing"),
            (["version": 1, "finished": [["delivery": 1, "result": "x"]]], "result"),
            (
                ["version": 1, "finished": [["delivery": 1, "result": "failed", "y": 1]]],
                "option of that name y"
            ),
            (["version": 1, "registered": [1]], "registered"),
        ] as [(Value, String)]
    )
    func `a hello that is not right is refused in words`(options: Value, word: String) {
        do {
            let hello = try Self.read(App1.Hello.self, options)
            Issue.record("taken: \(hello)")
        } catch {
            #expect("\(error.reason) \(error.value)".contains(word), "\(error)")
            #expect(!error.fix.isEmpty)
        }
    }

    @Test func `a request takes dates as they come, and no others' options`() throws {
        let request = try Self.read(
            App1.Submit.self,
            "news",
            ["kind": "processing", "earliest": 1_700_000_000.25, "power": true, "token": "t"]
        )
        #expect(request.kind == .processing && request.needs.power && request.token == "t")
        #expect(request.earliest == WallTime(nanoseconds: 1_700_000_000_250_000_000))
        func date(_ value: Value) -> WallTime? {
            try? Self.read(App1.Submit.self, "x", ["kind": "refresh", "earliest": value]).earliest
        }
        #expect(date(-62_135_769_600) == WallTime(nanoseconds: 0), "the distant past")
        #expect(date(9_000_000_000)?.nanoseconds == 9_000_000_000_000_000_000)
        #expect(date(9_000_000_001) == nil && date(63_113_904_000) == nil)
        // The library says the last date there is for Foundation's distant future.
        let future = WallTime(secondsSince1970: 63_113_904_000)
        #expect(future?.nanoseconds == 9_000_000_000_000_000_000)
        #expect(date(.double(.nan)) == nil && date(.double(.infinity)) == nil)
        #expect(date("soon") == nil)
        for name in ["", String(repeating: "x", count: 256), "a\0b"] {
            #expect(throws: OptionError.self) {
                try Self.read(App1.Submit.self, .string(name), ["kind": "refresh"])
            }
        }
        let long = Value.string(String(repeating: "x", count: 65))
        for options: Value in [
            [:], ["kind": "refresh", "command": ["rm"]], ["kind": "refresh", "token": long],
        ] {
            #expect(throws: OptionError.self) { try Self.read(App1.Submit.self, "x", options) }
        }
    }

    @Test func `a task has a name of bounded length`() throws {
        let task = try Self.read(
            App1.BeginTask.self,
            "send",
            ["expires": true, "activity": true]
        )
        #expect(task.expires && task.isActivity)
        #expect(throws: OptionError.self) {
            try Self.read(App1.BeginTask.self, .string(String(repeating: "x", count: 256)), [:])
        }
        #expect(throws: OptionError.self) {
            try Self.read(App1.BeginTask.self, "x", ["expires": 1])
        }
    }

    @Test func `whatever comes is taken within its bounds, or refused in words`() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let folder = root.joined(separator: "/") + "/FuzzTesting/Corpus/FuzzOptions"
        let names = try Files.list(folder)
        #expect(names.count >= 4)
        for name in names {
            let bytes = try Files.read(folder + "/" + name, limit: 1 << 20)
            #expect(OptionProperties.options(bytes) == nil, "\(name)")
            // Every beginning, and every byte another.
            for end in bytes.indices {
                #expect(OptionProperties.options(Array(bytes[..<end])) == nil)
                var changed = bytes
                changed[end] ^= 0x11
                #expect(OptionProperties.options(changed) == nil)
            }
        }
    }
}
