internal import DeviceCore
internal import Vocabulary

/// A service on the machine's message bus that tells of conditions: what is read of it, and what
/// that means. One more is one more row (`ServiceRow.all`).
struct ServiceRow: Sendable {
    let source: ConditionSource
    /// On the bus.
    let name: String
    /// It is started by the bus when somebody asks for it, as desktops do.
    var startsOnDemand = false
    /// After these its objects are read anew.
    var rereadAfter: [ServiceMember] = []
    /// A method that lists the paths of further objects.
    var listing: ServiceMember?
    let conditions: [Condition]
    /// Which objects are read; those that are known by now tell of further ones.
    let objects: @Sendable (ServiceObjects, ServiceContext) -> [ServiceObject]
    /// What they say. A condition that is left out is not told of.
    let read: @Sendable (ServiceObjects, ServiceContext) -> [Condition: Reading]
    /// For people: how far its word about a condition goes; nil: all the way.
    var remark: @Sendable (ServiceObjects, Condition) -> String? = { _, _ in nil }

    static let all: [ServiceRow] = [.upower, .networkManager, .powerProfiles, .logind]
}

/// What a service is asked with, beside its own objects.
struct ServiceContext: Equatable, Sendable {
    /// Who the daemon runs as.
    var user: UInt32
    /// Whether the kernel has a route to everywhere; nil: that is not known.
    var hasRoute: Bool?
}

/// A signal or a method.
struct ServiceMember: Hashable, Sendable {
    let object: ServiceObject
    let member: String
}

/// An interface of an object.
struct ServiceObject: Hashable, Sendable {
    let path: String
    let interface: String
}

/// The properties of a service's objects, as far as they are known.
struct ServiceObjects: Equatable, Sendable {
    private var maps: [ServiceObject: ValueMap] = [:]
    /// Paths that the service lists, if it is asked for any.
    var listed: [String] = []

    init(_ maps: [ServiceObject: ValueMap] = [:], listed: [String] = []) {
        (self.maps, self.listed) = (maps, listed)
    }

    subscript(object: ServiceObject) -> ValueMap? {
        get { maps[object] }
        set { maps[object] = newValue }
    }

    /// Forgets all others.
    mutating func keep(_ objects: [ServiceObject]) {
        maps = maps.filter { objects.contains($0.key) }
    }

    var count: Int { maps.count }

    func value(_ name: String, of object: ServiceObject) -> Value? { maps[object]?[name] }
}
