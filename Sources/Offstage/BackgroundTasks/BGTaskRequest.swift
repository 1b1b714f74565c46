public import Foundation

/// What an app asks to be launched for; made as one of its subclasses.
///
/// A request is copied when it is submitted: what is changed in it later does not count. One
/// request is one launch; whoever wants another asks again, best in the handler itself.
/// It is filled in by one thread, as Apple's, and then submitted.
public class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {  // One thread's; copied.
    /// The task that this asks for, as the manifest lists it under `PermittedTaskIdentifiers`.
    public let identifier: String

    /// The task is not launched before this date; nil: as soon as the device sees fit. The date is
    /// no promise: the launch may come much later.
    public var earliestBeginDate: Date?

    init(identifier: String, copying other: BGTaskRequest?) {
        self.identifier = identifier
        earliestBeginDate = other?.earliestBeginDate
        super.init()
    }

    /// A request of the same class and content.
    public func copy(with zone: NSZone? = nil) -> Any {
        BGTaskRequest(identifier: identifier, copying: self)
    }
}

/// Asks for a short launch, at a time learned from the user, to bring what the app shows up to
/// date. The manifest needs the mode `fetch`.
public class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {  // As its class.
    /// A request for the refresh task of this identifier.
    public init(identifier: String) { super.init(identifier: identifier, copying: nil) }

    override init(identifier: String, copying other: BGTaskRequest?) {
        super.init(identifier: identifier, copying: other)
    }

    override public func copy(with zone: NSZone? = nil) -> Any {
        BGAppRefreshTaskRequest(identifier: identifier, copying: self)
    }
}

/// Asks for minutes of time while the device is idle. The manifest needs the mode `processing`.
public class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {  // As its class.
    /// Whether the task is only launched with a network. If not, there may be none.
    public var requiresNetworkConnectivity = false

    /// Whether the task is only launched on external power, where it may use the processor
    /// without limit.
    public var requiresExternalPower = false

    /// A request for the processing task of this identifier.
    public init(identifier: String) { super.init(identifier: identifier, copying: nil) }

    override init(identifier: String, copying other: BGTaskRequest?) {
        super.init(identifier: identifier, copying: other)
        guard let other = other as? BGProcessingTaskRequest else { return }
        requiresNetworkConnectivity = other.requiresNetworkConnectivity
        requiresExternalPower = other.requiresExternalPower
    }

    override public func copy(with zone: NSZone? = nil) -> Any {
        BGProcessingTaskRequest(identifier: identifier, copying: self)
    }
}
