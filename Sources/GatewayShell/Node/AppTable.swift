package import GatewayCore

/// The apps that devices have registered, by bundle identifier and by number.
package struct AppTable: Sendable {
    private var numbers: [String: AppNumber] = [:]
    private var names: [AppNumber: String] = [:]
    private var last: UInt32 = 0

    /// More are refused: a device could make them up.
    package static let limit = 100_000

    package init(_ apps: [(AppNumber, String)] = []) {
        for (number, bundle) in apps {
            numbers[bundle] = number
            names[number] = bundle
            last = max(last, number.number)
        }
    }

    package var count: Int { names.count }

    package func number(of bundle: String) -> AppNumber? { numbers[bundle] }
    package func bundle(of number: AppNumber) -> String? { names[number] }

    mutating func add(_ bundle: String) -> AppNumber? {
        guard count < Self.limit else { return nil }
        last += 1
        let number = AppNumber(last)
        numbers[bundle] = number
        names[number] = bundle
        return number
    }
}
