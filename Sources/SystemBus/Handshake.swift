/// The server's side of the handshake (SASL) that comes before the first message.
///
/// We hold it, and not sd-bus, since sd-bus takes what comes right behind it into its buffer, where
/// nobody can look at it.
struct Handshake {
    enum Outcome: Equatable {
        case goesOn
        /// The next byte begins a message.
        case done
        case failed
    }

    /// What is to be sent.
    private(set) var answers = ""
    private let user: UInt32
    /// Of the server, as 32 hexadecimal digits.
    private let id: String
    private var hasBegun = false
    private var line: [UInt8] = []
    private var lines = 0
    private var state = State.idle

    private enum State { case idle, asked, known }

    /// Bytes of a line, and lines; what libraries send is far less.
    private static let longestLine = 1024
    private static let mostLines = 64

    /// `user`: who is at the other end, by the kernel's word.
    init(user: UInt32, id: String) { (self.user, self.id) = (user, id) }

    /// Takes what is its own of `bytes`, and says how many these were.
    mutating func take(_ bytes: some Collection<UInt8>) -> (Int, Outcome) {
        var count = 0
        for byte in bytes {
            count += 1
            guard hasBegun else {
                guard byte == 0 else { return (count, .failed) }
                hasBegun = true
                continue
            }
            line.append(byte)
            if byte == 10, line.dropLast().last == 13 {
                let outcome = take(line: String(decoding: line.dropLast(2), as: UTF8.self))
                line = []
                lines += 1
                guard outcome == .goesOn else { return (count, outcome) }
            }
            guard line.count <= Self.longestLine, lines <= Self.mostLines else {
                return (count, .failed)
            }
        }
        return (count, .goesOn)
    }

    mutating func takeAnswers() -> String {
        defer { answers = "" }
        return answers
    }

    private mutating func take(line: String) -> Outcome {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        let token = words.count > 1 ? String(words[words.count - 1]) : nil
        switch words.first {
        case "AUTH":
            guard words.count > 1, words.count < 4, words[1] == "EXTERNAL" else { return reject() }
            if words.count == 3 { return identify(token) }
            state = .asked
            answers += "DATA\r\n"
        case "DATA":
            guard state == .asked, words.count < 3 else { return refuse() }
            return identify(token)
        case "CANCEL", "ERROR": return reject()
        case "BEGIN":
            guard state == .known else { return .failed }
            return .done
        // Descriptors as well (NEGOTIATE_UNIX_FD): no call takes any.
        default: return refuse()
        }
        return .goesOn
    }

    /// `token`: the user's number in hexadecimal ASCII; none means whom the kernel says.
    private mutating func identify(_ token: String?) -> Outcome {
        let own = String(user).utf8.map { String($0, radix: 16) }.joined()
        guard token == nil || token == "" || token?.lowercased() == own else { return reject() }
        state = .known
        answers += "OK \(id)\r\n"
        return .goesOn
    }

    private mutating func reject() -> Outcome {
        state = .idle
        answers += "REJECTED EXTERNAL\r\n"
        return .goesOn
    }

    private mutating func refuse() -> Outcome {
        answers += "ERROR\r\n"
        return .goesOn
    }
}
