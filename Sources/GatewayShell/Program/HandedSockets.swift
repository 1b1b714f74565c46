import CommandTable
import EventLoop
import Linux
import Vocabulary

/// The listening sockets that the service manager hands over, by their names (socket activation).
/// It keeps them over a restart, and with them those who connect meanwhile.
struct HandedSockets: ~Copyable {
    private var providers: [ProviderListener] = []
    private var devices: InternetListener?
    private var metrics: InternetListener?

    /// Called as `FileDescriptorName=` calls them, and in the file of settings.
    private enum Name: String, CaseIterable {
        case providers, devices, metrics

        var setting: String { self == .providers ? "listen" : rawValue }
    }

    init() throws(Failure) {
        let names = try failing { try ServiceManager.takeSocketNames() }
        for (index, text) in names.enumerated() {
            let socket = ServiceManager.takeSocket(index)
            guard let name = Name(rawValue: text) else {
                throw Self.failure("is not known by that name", text)
            }
            if let problem = InternetListener.problem(of: socket) {
                throw Self.failure(problem, text)
            }
            guard !has(name) else { throw Self.failure("came twice", text) }
            let listener: InternetListener
            do throws(LinuxError) {
                listener = try InternetListener(listening: socket)
            } catch {
                throw Failure(.failed, "\(error)")
            }
            switch name {
            case .providers: providers.append(ProviderListener(listener))
            case .devices: devices = consume listener
            case .metrics: metrics = consume listener
            }
        }
    }

    private func has(_ name: Name) -> Bool {
        switch name {
        // Providers may have several ports.
        case .providers: false
        case .devices: devices != nil
        case .metrics: metrics != nil
        }
    }

    private static func failure(_ problem: String, _ name: String) -> Failure {
        Failure(
            .failed,
            "the socket \(name.quoted) of the service manager \(problem)",
            fix: "TCP sockets (ListenStream=) may have a FileDescriptorName= of "
                + Name.allCases.map(\.rawValue).joined(separator: ", ")
                + "; only providers may be several."
        )
    }

    // MARK: Which one is served: the one handed over, else one where the settings say

    func forProviders(_ settings: GatewaySettings) throws(LinuxError) -> [ProviderListener] {
        guard providers.isEmpty else {
            if settings.listen != GatewaySettings().listen {
                for address in settings.listen {
                    Self.tell(.providers, address, providers.map(\.port))
                }
            }
            return providers
        }
        var listeners: [ProviderListener] = []
        for address in settings.listen {
            listeners.append(ProviderListener(try InternetListener(address)))
        }
        return listeners
    }

    mutating func forDevices(_ settings: GatewaySettings) throws(LinuxError) -> InternetListener {
        guard let handed = devices.take() else { return try InternetListener(settings.devices) }
        if settings.devices != GatewaySettings().devices {
            Self.tell(.devices, settings.devices, [handed.port])
        }
        return handed
    }

    mutating func forMetrics(_ settings: GatewaySettings) throws(LinuxError) -> InternetListener? {
        guard let handed = metrics.take() else {
            guard let address = settings.metrics else { return nil }
            return try InternetListener(address)
        }
        if let address = settings.metrics { Self.tell(.metrics, address, [handed.port]) }
        return handed
    }

    /// Somebody asked for something else.
    private static func tell(_ name: Name, _ address: InternetAddress, _ ports: [UInt16]) {
        guard !address.host.isEmpty || !ports.contains(address.port) else { return }
        let sockets = ports.count == 1 ? "a socket at port" : "sockets at ports"
        GatewayLog.write(
            "\(name.setting) = \(address) is not used: the service manager hands over "
                + "\(sockets) \(GatewayService.list(ports))"
        )
    }
}
