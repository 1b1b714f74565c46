import CSystemd
internal import Glibc
import Vocabulary

/// One D-Bus message; the reference is this value's.
@safe
struct Message: ~Copyable {
    let handle: OpaquePointer

    /// Takes over a reference.
    init(owning handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    /// Takes a reference of its own.
    init(retaining handle: OpaquePointer) {
        unsafe self.handle = unsafe sd_bus_message_ref(handle)
    }

    deinit { unsafe sd_bus_message_unref(handle) }
}

extension Message {
    var sender: String? { unsafe Self.text(sd_bus_message_get_sender(handle)) }
    var destination: String? { unsafe Self.text(sd_bus_message_get_destination(handle)) }
    var path: String? { unsafe Self.text(sd_bus_message_get_path(handle)) }
    var interface: String? { unsafe Self.text(sd_bus_message_get_interface(handle)) }
    var member: String? { unsafe Self.text(sd_bus_message_get_member(handle)) }

    /// Says whom the message comes from and goes to.
    func address(from sender: String, to destination: String) {
        unsafe sd_bus_message_set_sender(handle, sender)
        unsafe sd_bus_message_set_destination(handle, destination)
    }

    /// `interface.member`, for messages of errors.
    var subject: String { "\(interface ?? "").\(member ?? "")" }

    static func text(_ characters: UnsafePointer<CChar>?) -> String? {
        unsafe characters.map { unsafe String(cString: $0) }
    }

    /// Appends one value for each type of `signature`, which our own code wrote.
    func append(_ values: [Value], _ signature: String) throws(BusError) {
        guard let types = BusType.list(signature), types.count == values.count else {
            throw BusError(
                .unsuitable,
                "encode",
                subject,
                "\(values.count) values do not make '\(signature)'"
            )
        }
        let writer = unsafe MessageWriter(message: handle)
        for (value, type) in zip(values, types) { try writer.append(value, as: type, depth: 0) }
    }

    /// All that the message holds, one value for each of its arguments, from the start.
    ///
    /// `limit`: an estimate, in bytes, of what the values take in memory.
    func values(limit: Int) throws(BusError) -> [Value] {
        try check(unsafe sd_bus_message_rewind(handle, 1), "sd_bus_message_rewind", subject)
        var reader = unsafe MessageReader(message: handle, budget: limit)
        return try reader.rest(depth: 0)
    }

    /// Its one argument, a descriptor; a copy that is the caller's.
    func descriptor() throws(BusError) -> Int32 {
        var number: Int32 = -1
        let code = unsafe sd_bus_message_read_basic(handle, CChar(UInt8(ascii: "h")), &number)
        guard code > 0 else { throw BusError(.unsuitable, "decode", subject, "no descriptor") }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw BusError(-errno, "fcntl", subject) }
        return copy
    }
}
