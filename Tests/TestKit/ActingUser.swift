import CTestKit
package import Linux

extension Command {
    /// Does something as another user, such as connecting to that user's daemon; nil: as ourselves.
    /// Only the calling thread is that user, and only meanwhile.
    package static func acting<Result>(
        as user: User?,
        _ body: () throws -> Result
    ) throws -> Result {
        guard let user, user.user != CurrentProcess.user else { return try body() }
        let own = CurrentProcess.user
        guard testkit_become(user.user) == 0 else {
            throw DidNotHappen(description: "acting as \(user.name)")
        }
        defer {
            guard testkit_become(own) == 0 else { fatalError("cannot be user \(own) again") }
        }
        return try body()
    }
}
