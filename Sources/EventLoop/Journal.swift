internal import CSystemd
internal import Glibc
internal import Linux

/// The machine's log, where our standard error goes to it (sd-journal).
package enum Journal {
    /// So only what goes there anyhow goes there with fields.
    package static let isOurs: Bool = {
        guard let stream = CurrentProcess.environment("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(2, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }()

    /// How much it matters, as syslog has it.
    package enum Priority: Int, Sendable {
        case warning = 4
        case information = 6
    }

    /// One entry. Fields have names in capitals; one without a value is left out. What the journal
    /// does not take is lost: nobody could be told.
    package static func send(
        _ text: String,
        _ priority: Priority,
        fields: [(name: String, value: String)] = []
    ) {
        let all =
            [("MESSAGE", text), ("PRIORITY", "\(priority.rawValue)")]
            + fields.filter { !$0.value.isEmpty }
        let entries = all.map { Array("\($0.0)=\($0.1)".utf8) }
        let pieces = unsafe entries.map { entry in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: entry.count, alignment: 1)
            unsafe copy.copyBytes(from: entry)
            return unsafe iovec(iov_base: copy.baseAddress, iov_len: entry.count)
        }
        unsafe sd_journal_sendv(pieces, Int32(pieces.count))
        unsafe pieces.forEach { unsafe $0.iov_base.deallocate() }
    }
}
