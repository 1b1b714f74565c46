extension Report {
    /// A download or an upload.
    package struct Transfer: ReportFields {
        package var id = TransferID(0)
        package var app = AppID("")
        package var url = ""
        package var direction = Word<TransferWay>(text: "")
        package var state = Word<TransferStanding>(text: "")
        /// Why it waits, what it does, or how it ended.
        package var sentence = ""
        /// Of the file, wherever its bytes go.
        package var directory = ""
        /// In the directory; nil: not known before the server answers.
        package var file: String?
        /// Bytes in the file; of an upload: bytes that were sent.
        package var received: Int64 = 0
        /// Bytes of the whole file; nil: not known.
        package var total: Int64?
        /// Over which it is fetched, or may be.
        package var connections: Int64 = 1
        package var submitted = Time(rawValue: "")
        package var ended: Time?
        /// Why it failed; nil: it has not.
        package var failure: Word<TransferFailureName>?
        package var next: Time?
        package var holds: [Hold] = []

        package init() {}
    }
}
