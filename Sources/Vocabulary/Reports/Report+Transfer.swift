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
        /// Of the answer with which the server refused it; nil: it did not.
        package var status: Int64?
        package var next: Time?
        package var holds: [Hold] = []

        package init() {}
    }

    /// How far transfers are, without a report of each: how many there are in each state, and those
    /// that are looked at.
    package struct TransferProgress: ReportFields {
        /// That have not ended.
        package var open: Int64 = 0
        package var running: Int64 = 0
        package var waiting: Int64 = 0
        package var paused: Int64 = 0
        package var finished: Int64 = 0
        package var failed: Int64 = 0
        package var cancelled: Int64 = 0
        /// Of those that have not ended: what runs, then what is next.
        package var shown: [Transfer] = []
        /// Of those that have ended, in the order of all.
        package var ended: [Transfer] = []

        package init() {}

        package var all: Int64 { running + waiting + paused + finished + failed + cancelled }

        package mutating func count(_ standing: TransferStanding) {
            switch standing {
            case .running: running += 1
            case .waiting: waiting += 1
            case .paused: paused += 1
            case .finished: finished += 1
            case .failed: failed += 1
            case .cancelled: cancelled += 1
            }
        }
    }
}
