package import Vocabulary

/// For every process of an app, and its extensions.
extension App1 {
    package struct Submit: AppCall {
        package var identifier = ""
        package var kind: TaskKind?
        package var earliest: WallTime?
        package var needs = Needs()
        package var token: String?
        package init() {}
        package var asCall: App1 { .submit(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("identifier", &identifier)
            try fields.option("kind", &kind, "refresh or processing")
            try fields.option("earliest", &earliest)
            try fields.needs(&needs)
            try fields.token(&token, "a repeated call with the same token gets the first answer")
        }
        package func check() throws(OptionError) {
            try App1.check(identifier)
            guard kind != nil else { throw .noKind }
        }
    }

    package struct Cancel: AppCall {
        package var identifier = ""
        package init() {}
        package var asCall: App1 { .cancel(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("identifier", &identifier)
        }
        package func check() throws(OptionError) {
            if !identifier.isEmpty { try App1.check(identifier) }
        }
    }

    package struct Pending: AppCall {
        package typealias Reply = PendingRequests
        package init() {}
        package var asCall: App1 { .pending(self) }
    }

    package struct BeginTask: AppCall {
        package typealias Reply = BegunTask
        package var name = ""
        /// `ExpireTask` is wanted.
        package var expires = false
        /// It ends with the connection.
        package var isActivity = false
        package var token: String?
        package init() {}
        package var asCall: App1 { .beginTask(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("name", &name)
            try fields.option("expires", &expires, "call \(AppObject1.ExpireTask.name)")
            try fields.option(
                "activity",
                &isActivity,
                "the task belongs to this process: it ends with this connection, which is "
                    + "notified of its expiry"
            )
            try fields.token(&token, "a repeated call with the same token returns the same task")
        }
        package func check() throws(OptionError) {
            guard name.utf8.count > 255 else { return }
            throw OptionError(
                reason: "the name of a task has up to 255 bytes",
                value: "\(name.prefix(40))",
                fix: "give a shorter one"
            )
        }
    }

    package struct EndTask: AppCall {
        package var task: Int64 = 0
        package init() {}
        package var asCall: App1 { .endTask(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("task", &task, as: "t")
        }
    }

    package struct Limits: AppCall {
        package typealias Reply = Vocabulary.Limits
        package init() {}
        package var asCall: App1 { .limits(self) }
    }

    /// A name that a task may have.
    static func check(_ identifier: String) throws(OptionError) {
        guard identifier.isEmpty || identifier.utf8.count > 255 else { return }
        throw OptionError(
            reason: "an identifier has 1 to 255 bytes",
            value: "\(identifier.prefix(40))",
            fix: "give one of PermittedTaskIdentifiers="
        )
    }
}
