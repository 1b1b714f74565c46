/// The error that `body` throws; nil: none, or one of another kind.
package func caught<Failure: Error>(_ body: () throws -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch {
        return error as? Failure
    }
}
