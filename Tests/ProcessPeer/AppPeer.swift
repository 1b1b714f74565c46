import AppProtocol
import EventLoop
import Linux
import SystemBus
import TestKit
import Vocabulary

/// A linked app that does what a test tells it on a socket, a JSON map on each line, and tells what
/// it is called. Nothing happens in it that the test has not asked for, but for receipts if they
/// are wanted.
///
/// In: `{"do": "connect" | "export" | "call" | "post" | "flood" | "answer" | "refuse" |
/// "disconnect" | "start" | "exit"}` with what each needs. Out: one answer to each (`answer` or
/// `error`), and `{"called": METHOD, "arguments": […], "number": N}` for what is to be answered.
final class AppPeer {
    private let loop: EventLoop
    private let test: FileDescriptor
    private var line: [UInt8] = []
    private var bus: Bus?
    private var object: ExportedObject?
    /// Connections that it had before this one.
    private var earlier: [(Bus, ExportedObject?)] = []
    private var calls: [Int64: ObjectCall] = [:]
    private var lastCall: Int64 = 0
    private var sources: [any Source] = []
    /// Methods that are answered at once.
    private var answering: [String] = []

    init(_ path: String) throws {
        loop = try EventLoop()
        test = try UnixSocket.connect(to: path)
        tell(["pid": .integer(Int64(CurrentProcess.pid))])
    }

    func run() throws {
        sources.append(
            try DescriptorSource(loop, test.number, .readable) { [unowned self] _ in
                do { try read() } catch { tell(["error": "\(error)", "text": ""]) }
            }
        )
        while try loop.runTurn() {}
    }

    private func tell(_ value: Value) {
        // A test that has gone needs nothing.
        do { try test.writeAll(value.json() + "\n") } catch { loop.exit() }
    }

    private func read() throws {
        let bytes = try test.read(upTo: 65_536)
        if bytes.isEmpty { return loop.exit() }
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let command = try ValueJSON.parse(String(decoding: line, as: UTF8.self))
            line = []
            try obey(command)
        }
    }

    private func obey(_ command: Value) throws {
        let number = command["number"]?.integerValue ?? 0
        switch command["do"]?.stringValue {
        case "connect":
            let socket = CurrentProcess.environment("OFFSTAGE_SOCKET") ?? ""
            let bus = try Bus.connect(toSocket: command["socket"]?.stringValue ?? socket)
            try bus.onDisconnect { [unowned self] in tell(["called": "disconnected"]) }
            try bus.attach(to: loop)
            if let old = self.bus { earlier.append((old, object)) }
            self.bus = bus
            tell(["answer": []])
        case "export":
            answering = (command["answering"]?.listValue ?? []).compactMap(\.stringValue)
            object = try bus?.export(
                AppObject1.interface,
                at: command["path"]?.stringValue ?? AppObject1.path
            ) { [unowned self] in called($0) }
            tell(["answer": []])
        case "call": try call(command) { [unowned self] in tell($0) }
        case "post":
            try call(command) { _ in }
            tell(["answer": []])
        case "flood": try flood(command)
        case "answer":
            try calls.removeValue(forKey: number)?.answer()
            tell(["answer": []])
        case "refuse":
            calls.removeValue(forKey: number)?.refuse("org.example.Error.No", "not today")
            tell(["answer": []])
        case "disconnect":
            earlier = []
            object = nil
            bus = nil
            tell(["answer": []])
        case "start":
            let words = (command["command"]?.listValue ?? []).compactMap(\.stringValue)
            var program = Command(words)
            program.environment = CurrentProcess.environment()
            // Not waited for: it lives with the launch.
            _ = try program.start()
            tell(["answer": []])
        case "spend":
            // Memory that is really used.
            spent = [UInt8](repeating: 1, count: Int(command["bytes"]?.integerValue ?? 0))
            tell(["answer": []])
        case "exit": CurrentProcess.exit(Int32(number))
        default: throw DidNotHappen(description: "an order: \(command)")
        }
    }
    private var spent: [UInt8] = []

    private func called(_ call: ObjectCall) {
        if answering.contains(call.method.name) {
            try? call.answer()
            tell(["called": .string(call.method.name), "arguments": .list(call.arguments)])
            return
        }
        lastCall += 1
        calls[lastCall] = call
        tell([
            "called": .string(call.method.name), "arguments": .list(call.arguments),
            "number": .integer(lastCall),
        ])
    }

    private func call(
        _ command: Value,
        numbered: Int? = nil,
        completion: @escaping (Value) -> Void
    ) throws {
        guard let bus, let name = command["method"]?.stringValue,
            let method = App1.interface.method(name)
        else { throw DidNotHappen(description: "a connection, a method: \(command)") }
        let arguments = (command["arguments"]?.listValue ?? []).map { argument in
            guard let numbered, let text = argument.stringValue else { return argument }
            return .string(text.replacing("#", with: "\(numbered)"))
        }
        let target = Target(nil, "/org/offstage", App1.name, name)
        try bus.call(
            target,
            arguments,
            signature: method.inputSignature,
            timeout: .minutes(2)
        ) { answer in
            switch answer {
            case .success(let values): completion(["answer": .list(values)])
            case .failure(let error):
                guard case .refused(let name) = error.reason else {
                    return completion(["error": "\(error.reason)", "text": "\(error.message)"])
                }
                completion(["error": .string(name), "text": .string(error.message)])
            }
        }
    }

    /// The same call so many times at once, `#` in its texts the number of each.
    private func flood(_ command: Value) throws {
        let times = Int(command["times"]?.integerValue ?? 1)
        var answers = 0
        var answered: Int64 = 0
        var refused: [String: Int64] = [:]
        for number in 0..<times {
            try call(command, numbered: number) { [unowned self] answer in
                if let name = answer["error"]?.stringValue {
                    refused[name, default: 0] += 1
                } else {
                    answered += 1
                }
                answers += 1
                guard answers == times else { return }
                var fields: ValueMap = ["answered": .integer(answered)]
                for (name, count) in refused { fields[name] = .integer(count) }
                tell(["answer": [.map(fields)]])
            }
        }
    }
}
