internal import DeviceCore
internal import Vocabulary

/// Names and passwords that apps have given for servers, until they are of no use any more. They
/// are in memory only: not in the store, and in no log.
struct KeptLogins {
    private var logins: [UInt64: (user: String, password: String)] = [:]
    private var last: UInt64 = 0

    mutating func keep(_ user: String, _ password: String) -> UInt64 {
        last += 1
        logins[last] = (user, password)
        return last
    }

    mutating func forget(_ numbers: [UInt64]) {
        for number in numbers { logins[number] = nil }
    }

    /// What is there of them.
    func answers(_ wanted: [TransferLogin]) -> [Credentials.AnsweredChallenge] {
        wanted.compactMap { wanted in
            logins[wanted.number].map { login in
                Credentials.AnsweredChallenge(
                    url: wanted.url,
                    challenge: wanted.challenge,
                    user: login.user,
                    password: login.password
                )
            }
        }
    }
}
