package import Vocabulary

/// What a transfer waits for its app to say. It does not go on before the app has said it.
package struct TransferQuestion: Hashable, Sendable, Codable {
    /// Of this question only; its place among the ends and questions of all tasks.
    package let number: UInt64
    package let kind: Kind
    let since: WallTime
    /// Answers of its app in a row that servers refused before it.
    let failures: Int64

    package enum Kind: Hashable, Sendable, Codable {
        /// Its date has come.
        case delayed
        /// The server has refused it with this answer.
        case unauthorized(ExchangeAnswer)
    }

    var isValid: Bool { failures.isCount && kind.isValid }
}

extension TransferQuestion.Kind {
    var word: TaskQuestionKind {
        switch self {
        case .delayed: .delayed
        case .unauthorized: .unauthorized
        }
    }

    fileprivate var isValid: Bool {
        switch self {
        case .delayed: true
        case .unauthorized(let answer): (100...999).contains(answer.status)
        }
    }

    /// Completes "it waits because …".
    package var sentence: String {
        switch self {
        case .delayed: return "its app is asked whether it still wants it"
        case .unauthorized(let answer):
            let host = answer.url.urlHost
            return "its app has to answer a challenge of \(host) (status \(answer.status))"
        }
    }
}

/// What an app answers to a question.
package enum TransferAnswer: Hashable, Sendable, Codable {
    /// As if nobody had asked. `isIgnored`: the app has nobody who answers challenges.
    case proceed(isIgnored: Bool)
    case request(url: String, headers: [HTTPField], ignoresCookies: Bool = false)
    /// The number under which the shell keeps a name and a password, which the core never sees.
    /// `scheme`: of the challenge that they answer; nil: of the first that they can.
    case login(UInt64, scheme: String?, forSession: Bool)
    case cancel

    /// Nil: it has none.
    package var login: UInt64? {
        switch self {
        case .login(let number, _, _): number
        case .proceed, .request, .cancel: nil
        }
    }
}

/// An app's answer to a challenge. It does not outlive the daemon: then the app is asked again.
package struct TransferLogin: Hashable, Sendable, Codable {
    /// Under which the shell keeps the name and the password.
    package let number: UInt64
    /// Of the server that wanted to know.
    package let url: String
    package let challenge: HTTPChallenge

    package init(number: UInt64, url: String, challenge: HTTPChallenge) {
        (self.number, self.url, self.challenge) = (number, url, challenge)
    }
}

/// The same for all tasks of a session.
struct SessionLogin: Hashable, Sendable, Codable {
    let session: String
    let since: BootTime
    let login: TransferLogin
}
