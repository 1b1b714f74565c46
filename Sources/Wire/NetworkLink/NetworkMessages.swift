package import Vocabulary

/// What `offstaged` tells `offstage-net`. Each is one datagram of a sequenced-packet socket.
package enum NetworkOrder: Hashable, Sendable {
    /// The first message; no other is taken before it.
    case hello(version: Int)
    /// Begins an exchange. The datagram carries one descriptor: the file that the bytes go to, open
    /// for reading and writing.
    case begin(TransferID, ExchangeOrder)
    /// Begins an exchange that sends a file. The datagram carries one descriptor: the file, open
    /// for reading.
    case upload(TransferID, UploadOrder)
    /// The answer begins at zero though bytes were there: the daemon has forgotten those, and the
    /// file may be overwritten.
    case proceed(TransferID)
    /// Ends an exchange; answered by `ended`, unless that is on its way.
    case stop(TransferID)
    /// The daemon has stored that so many bytes from the file's start are durable, as `progress`
    /// told it. Without it an exchange waits once it is far ahead of what is stored.
    case stored(TransferID, durable: Int64)
    /// Asks a server to forget an upload that was not completed. Not answered.
    case remove(UploadRemoval)
}

/// What `offstage-net` tells `offstaged`.
package enum NetworkReport: Hashable, Sendable {
    /// The answer to the first message, and what its sandbox has not: the kernel would not.
    case hello(version: Int, lacks: [SandboxPart])
    /// It has had nothing to do for a while, or can no longer read what names are looked up by,
    /// because that was replaced. It finishes what it has begun, and new orders go to another
    /// process: it answers them as stopped. It exits when the daemon has shut down its sending
    /// side.
    case retires
    /// The head of the last answer, after all redirects.
    case answered(TransferID, ExchangeAnswer)
    /// Of an upload: what the server has made for it; nil: it has forgotten that.
    case resource(TransferID, UploadResource?)
    /// Of an upload whose server has made something: what was sent of the file so far. Sent after
    /// `resource`, and before `progress` or `ended` from time to time.
    case sent(TransferID, SentPart)
    /// Bytes in the file, and how many from its start are durable. At most twice a
    /// second, and when all are there; `durable` rises every 4 MiB or 2 s, whichever comes first.
    /// Of an upload: bytes that were sent, and how many of them the server has confirmed.
    case progress(TransferID, received: Int64, durable: Int64)
    /// The durable ranges of a file behind its first gap, where it is fetched over several
    /// connections. Sent before `progress` or `ended` if they have changed.
    case ranges(TransferID, [Range<Int64>])
    /// The exchange is over; `durable` bytes of the file are, or the server has confirmed them.
    case ended(TransferID, ExchangeEnd, durable: Int64)
}

/// What holds the network process, so that a server that takes it over cannot go on from there.
package enum SandboxPart: String, Hashable, Sendable, Codable, CaseIterable {
    /// No program gives it more rights.
    case privileges
    /// Another user than root.
    case user
    /// Only few files can be read, and none written.
    case files
    /// Only few system calls are answered.
    case calls
}
