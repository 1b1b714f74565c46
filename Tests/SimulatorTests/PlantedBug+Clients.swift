import AppProtocol
import ClientCore
import Vocabulary

extension PlantedBug {
    static let all =
        effects + records + events + clients + refreshes + held + lies + transfers + seesLowData

    /// Bugs of the library.
    static let clients: [PlantedBug] = [
        PlantedBug("a handler is called for each go", "a handler runs once").with {
            $0.client = { effect in
                if case .run = effect { [effect, effect] } else { [effect] }
            }
        },
        PlantedBug(
            "a hello does not tell what has ended",
            "the end of a handler is told until it is known"
        ).with {
            $0.client = { effect in
                guard case .send(let number, .hello(var hello)) = effect else { return [effect] }
                hello.finished = hello.finished.map { _ in [] }
                return [.send(number, .hello(hello))]
            }
            $0.notices = "nobody knows"
            $0.days = 8
        },
        PlantedBug(
            "whatever has ended has failed",
            "the end of a handler is told until it is known"
        ).with {
            $0.client = { effect in
                guard case .send(let number, .complete(var complete)) = effect else {
                    return [effect]
                }
                complete.result = .failed
                return [.send(number, .complete(complete))]
            }
            $0.notices = "its handler said"
        },
        PlantedBug("a kept call is made twice", "whoever calls is answered once").with {
            $0.client = { effect in
                if case .send(_, .endTask) = effect { [effect, effect] } else { [effect] }
            }
            $0.notices = "on one connection"
        },
        PlantedBug("answers are not handed on", "whoever calls is answered once").with {
            $0.client = { effect in
                if case .answer(_, .success) = effect { [] } else { [effect] }
            }
            $0.notices = "waits for ever"
        },
        PlantedBug("callers are answered twice", "whoever calls is answered once").with {
            $0.client = { effect in
                if case .answer = effect { [effect, effect] } else { [effect] }
            }
            $0.notices = "answered twice"
        },
        PlantedBug("receipts are not given", "an app and the daemon agree on what runs").with {
            $0.client = { effect in
                if case .reply = effect { [] } else { [effect] }
            }
            $0.notices = "no word"
        },
        PlantedBug("a go is not heard", "an app and the daemon agree on what runs").with {
            $0.client = { effect in
                if case .run = effect { [] } else { [effect] }
            }
            $0.notices = "does not run it"
        },
        PlantedBug(
            "an opening that is told again is opened again",
            "an app is told once what it is opened for"
        ).with {
            $0.client = { effect in
                if case .openURLs = effect { [effect, effect] } else { [effect] }
            }
            $0.notices = "twice"
        },
        PlantedBug(
            "an opening is acknowledged and not opened",
            "an app is told once what it is opened for"
        ).with {
            $0.client = { effect in
                guard case .openURLs(_, let number) = effect else { return [effect] }
                return [.reply(number)]
            }
            $0.notices = "is not told"
        },
        PlantedBug("not all that waits is told", "an app is told what waits and what it uses").with
        {
            $0.answer = { answer in
                guard case .pending(var pending) = answer else { return answer }
                pending.requests.removeLast(min(1, pending.requests.count))
                return .pending(pending)
            }
            $0.notices = "is told that it did not"
        },
        lie("an app is told of no time that it used", "that it used") { $0.cpu = 0 },
        lie("of a limit of memory that is not its own", "that it may use 1 bytes") {
            if $0.memoryLimit != nil { $0.memoryLimit = 1 }
        },
        lie("of a part of the processor", "that it may use 0.5 of") {
            if $0.cpuLimit != nil { $0.cpuLimit = 0.5 }
        },
        lie("of all of the processor", "of no limit of the processor") { $0.cpuLimit = nil },
        lie("of another end", "that it has") { $0.deadline = $0.deadline.map { $0 + 7200 } },
        lie("of limits in the foreground", "of limits in the foreground") { $0.memoryLimit = 1 },
        lie("that it is in the background", "is foreground") { $0.state = Word(.background) },
        PlantedBug("hello is not said", "an app and the daemon agree on what runs").with {
            $0.client = { effect in
                guard case .send(_, .hello(let hello)) = effect, hello.isAgain else {
                    return [effect]
                }
                return []
            }
            $0.notices = "does not know it"
        },
    ]
}
