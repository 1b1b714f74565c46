import Vocabulary

/// The apps that devices have registered, by bundle identifier and by number.
package struct BundleTable: Sendable {
    private var numbers: [String: AppNumber] = [:]
    private var names: [AppNumber: String] = [:]
    private var last: UInt32
    /// The only ones that devices may register; nil: any.
    var allowed: Set<String>?
    /// Those that keys of providers name: they are no invention of a device's.
    var named: Set<String> = []
    private var unheard: RefillBucket

    /// `last`: the largest number that was ever given.
    package init(_ apps: [(AppNumber, String)], last: UInt32, _ limits: GatewayLimits) {
        self.last = last
        unheard = RefillBucket(size: limits.newApps, refill: limits.newAppRefill)
        for (number, bundle) in apps {
            numbers[bundle] = number
            names[number] = bundle
        }
    }

    /// A bundle identifier: 1 to 200 letters, digits, `-`, `_` and `.`.
    package static func isBundle(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...200).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
            && bytes.allSatisfy(PushRequest.isTopic(byte:))
    }

    package var count: Int { names.count }

    package func number(of bundle: String) -> AppNumber? { numbers[bundle] }
    package func bundle(of number: AppNumber) -> String? { names[number] }

    /// Why a device cannot have this app; nil: it can. A new one counts.
    mutating func refusal(
        of bundle: String,
        _ limits: GatewayLimits,
        at now: BootTime
    ) -> RegistrationRefusal? {
        guard Self.isBundle(bundle), allowed?.contains(bundle) ?? true else {
            return .unknown
        }
        if numbers[bundle] != nil || allowed != nil || named.contains(bundle) { return nil }
        return count < limits.apps && unheard.take(at: now) ? nil : .unavailable
    }

    mutating func add(_ bundle: String) -> AppNumber {
        last += 1
        let number = AppNumber(last)
        numbers[bundle] = number
        names[number] = bundle
        return number
    }

    /// Its removal did not come to pass, nor what came in its place since.
    mutating func restore(_ number: AppNumber, _ bundle: String) {
        if let newer = numbers[bundle] { names[newer] = nil }
        numbers[bundle] = number
        names[number] = bundle
    }

    mutating func remove(_ number: AppNumber) {
        if let bundle = names.removeValue(forKey: number) { numbers[bundle] = nil }
    }

    mutating func useLimits(_ limits: GatewayLimits) {
        unheard = RefillBucket(size: limits.newApps, refill: limits.newAppRefill)
    }
}
