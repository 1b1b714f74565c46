import EventLoop
package import Linux

/// One of the ports that providers reach. All are served alike.
package final class ProviderListener {
    let socket: InternetListener
    var source: DescriptorSource?
    /// Somebody waits there to be accepted, which has a turn among the guests.
    var isQueued = false

    package init(_ socket: consuming InternetListener) { self.socket = socket }

    var port: UInt16 { socket.port }
}
