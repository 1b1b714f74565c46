import CSystemd
internal import Glibc
import Vocabulary

/// An interface in the form that sd-bus serves.
@safe
final class Vtable {
    let interface: Interface
    private let table: OpaquePointer

    /// The calls of all methods and properties go to the `Connection` that `offer` is given.
    init(_ interface: Interface) throws(BusError) {
        self.interface = interface
        let count = interface.methods.count + interface.signals.count + interface.properties.count
        guard let made = unsafe csystemd_vtable_new(count) else {
            throw BusError(-ENOMEM, "csystemd_vtable_new", interface.name)
        }
        unsafe table = unsafe made
        for method in interface.methods {
            let names = Self.names(method.input + method.output)
            try check(
                unsafe csystemd_vtable_add_method(
                    made,
                    method.name,
                    method.inputSignature,
                    method.outputSignature,
                    names,
                    methodCalled
                ),
                "csystemd_vtable_add_method",
                method.name
            )
        }
        for signal in interface.signals {
            let types = signal.arguments.map(\.type).joined()
            try check(
                unsafe csystemd_vtable_add_signal(
                    made,
                    signal.name,
                    types,
                    Self.names(signal.arguments)
                ),
                "csystemd_vtable_add_signal",
                signal.name
            )
        }
        for property in interface.properties {
            try check(
                unsafe csystemd_vtable_add_property(
                    made,
                    property.name,
                    property.type,
                    property.isConstant ? 1 : 0,
                    propertyRead
                ),
                "csystemd_vtable_add_property",
                property.name
            )
        }
    }

    deinit { unsafe csystemd_vtable_free(table) }

    private static func names(_ arguments: [Interface.Argument]) -> String {
        arguments.map { $0.name + "\n" }.joined()
    }

    /// Offers the interface on `bus` while the answer is kept; `connection` is not kept by it.
    func offer(
        on bus: Bus,
        at path: String,
        for connection: Connection
    ) throws(BusError) -> OfferedInterface {
        var slot: OpaquePointer?
        try check(
            unsafe sd_bus_add_object_vtable(
                bus.handle,
                &slot,
                path,
                interface.name,
                csystemd_vtable_members(table),
                Unmanaged.passUnretained(connection).toOpaque()
            ),
            "sd_bus_add_object_vtable",
            "\(path) \(interface.name)"
        )
        return unsafe OfferedInterface(owning: slot, self)
    }
}

/// sd-bus reads the table once more when it takes the interface away.
@safe
final class OfferedInterface {
    private let slot: OpaquePointer?
    private let vtable: Vtable

    fileprivate init(owning slot: OpaquePointer?, _ vtable: Vtable) {
        unsafe self.slot = unsafe slot
        self.vtable = vtable
    }

    deinit { unsafe sd_bus_slot_unref(slot) }
}

private func methodCalled(
    _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let context = unsafe context else { return -EINVAL }
    let connection = unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
    connection.received(unsafe Message(retaining: message))
    return 1
}

private func propertyRead(
    _ bus: OpaquePointer?,
    _ path: UnsafePointer<CChar>?,
    _ interface: UnsafePointer<CChar>?,
    _ name: UnsafePointer<CChar>?,
    _ reply: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ answer: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let reply = unsafe reply, let context = unsafe context,
        let interface = unsafe Message.text(interface), let name = unsafe Message.text(name)
    else { return -EINVAL }
    let connection = unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
    do throws(BusError) {
        let (value, type) = try connection.value(of: name, interface)
        try unsafe Message(retaining: reply).append([value], type)
        return 1
    } catch {
        return unsafe sd_bus_error_set(answer, ErrorName.failed, error.description)
    }
}
