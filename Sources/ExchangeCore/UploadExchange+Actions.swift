package import Vocabulary

extension UploadExchange {
    /// What is to be done, in order.
    package enum Action: Hashable, Sendable {
        /// Sends `request`. The connection of the last one may be given up.
        case request
        /// Looks whether the file still begins with what was sent of it; answered by `checked`.
        case check(SentPart)
        /// Tells the daemon where it goes on after an interruption.
        case resource(UploadResource?)
        /// Tells the daemon. It is the last answer, and the server has the file.
        case answered(ExchangeAnswer)
        /// Over. The connection of the last request may be given up.
        case end(ExchangeEnd)
    }

    package struct Request: Hashable, Sendable {
        package let method: String
        package let url: String
        package let fields: [HTTPField]
        /// The bytes of the file that it carries; nil: it has no body.
        package let body: Range<Int64>?
    }
}
