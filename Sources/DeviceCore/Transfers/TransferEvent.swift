package import Vocabulary

/// What became of a transfer in the world.
package enum TransferEvent: Hashable, Sendable, Codable {
    /// The file of a new exchange is open; `inode` is its number in its file system.
    case opened(inode: UInt64)
    /// The head of the answer. If its bytes go to the start of the file though some were there, the
    /// exchange waits for `TransferAction.proceed`.
    case answered(ExchangeAnswer)
    /// Bytes in the file, and how many of them are durable; of an upload: bytes that were sent, and
    /// how many of them the server has confirmed.
    case progress(received: Int64, durable: Int64)
    /// Of a file that is fetched over several connections: what is durable of it behind the bytes
    /// that `progress` and `ended` tell of. Those come after this one if it has changed.
    case ranges([Range<Int64>])
    /// The exchange is over. Comes once for each `TransferAction.begin`, also if it could not be
    /// begun, and for those of a network process that has died. `durable`: bytes of the version in
    /// the last answer; nil: no more is known than was reported before.
    case ended(ExchangeEnd, durable: Int64?)
    /// The server has made this for an upload; nil: it has forgotten it.
    case resource(UploadResource?)
    /// So much of the file was sent to that.
    case sent(SentPart)
    /// The file has its name, durably.
    case placed(name: String)
    /// It cannot be given its name.
    case notPlaced(TransferFailure)
    /// The same for now: what that lacks may come back, and the file stays as it is.
    case placementInterrupted(ExchangeEnd.Interruption)
    /// Less of the file is there than was durable, or something else is in its place.
    case lost
}

extension TransferEvent {
    /// Says all that an earlier one of the same transfer said, and anew. What was said between them
    /// comes to the same without the earlier one.
    func replaces(_ earlier: Self) -> Bool {
        switch (self, earlier) {
        case (.progress, .progress), (.ranges, .ranges), (.sent, .sent), (.resource, .resource):
            true
        // What was durable is forgotten for the one that starts anew.
        case (.answered(let answer), .answered(let before)):
            answer.startsAnew || !before.startsAnew
        case (.opened, _), (.answered, _), (.progress, _), (.ranges, _), (.ended, _),
            (.resource, _), (.sent, _), (.placed, _), (.notPlaced, _),
            (.placementInterrupted, _), (.lost, _):
            false
        }
    }
}

/// What the device has done for a transfer.
package enum TransferAction: Hashable, Sendable, Codable {
    /// Begins an exchange with the server, whose bytes go into the file. Ends with `ended`.
    case begin(ExchangeOrder, TransferFile)
    /// Begins an exchange that sends the file to the server. Ends with `ended`.
    case upload(UploadOrder, UploadFile)
    /// What was durable of the file is forgotten: the answer may overwrite it.
    case proceed
    /// Ends its exchange soon.
    case stop
    /// Gives a complete file its name; answered by `placed`, `notPlaced`, `placementInterrupted` or
    /// `lost`.
    case place(Placement)
    /// What is left of a file that nobody wants is removed.
    case discard(TransferFile)
    /// The server is asked once to forget what it has made for an upload.
    case remove(UploadRemoval)
    /// Asks whether something of this name is in the directory already; answered by `notPlaced` if
    /// it is, and else by nothing.
    case look(directory: String, name: String)
    /// Names and passwords that nobody needs any more are forgotten.
    case forget([UInt64])
    /// Tells the user.
    case notify(TransferNotice)
}

/// What the user asks for.
package enum TransferRequest: Hashable, Sendable, Codable {
    /// All of them, or none. `token`: as that of `Submission`.
    case enqueue([TransferOrder], token: String?)
    /// Until it is resumed. Those that have ended are left as they are.
    case pause([TransferID])
    case resume([TransferID])
    /// Ended, and what there is of the file is removed.
    case cancel([TransferID])
    /// Those that have not ended.
    case move([TransferID], TransferMove)
    /// Ended ones are listed no longer; nil: all of them.
    case forget([TransferID]?)
}

/// Where the bytes of a transfer go until the file is complete.
package struct TransferFile: Hashable, Sendable, Codable {
    /// An absolute path without links.
    package var directory: String
    package var partialName: String
    /// Where it may still be: it was moved from there, the last one last.
    package var formers: [String]
    /// Of the file, as it was opened last; nil: it was not.
    package var inode: UInt64?
    /// What an exchange for it needs beside it.
    package var credentials: CredentialFiles?
    /// The same, of what an app has said.
    package var logins: [TransferLogin] = []
    /// In the bits of chmod; 0: the umask of the daemon decides.
    @OmittedIfDefault package var permissions: UInt16 = 0

    package init(
        directory: String,
        partialName: String,
        formers: [String] = [],
        inode: UInt64? = nil,
        credentials: CredentialFiles? = nil
    ) {
        (self.directory, self.partialName) = (directory, partialName)
        (self.formers, self.inode, self.credentials) = (formers, inode, credentials)
    }
}

/// How a complete file gets its name.
package struct Placement: Hashable, Sendable, Codable {
    package var file: TransferFile
    package var name: String
    package var overwrites: Bool
    /// As the server said (`Last-Modified`); nil: now.
    package var modified: String?
    /// Of the file; nil: not known.
    package var size: Int64?
}
