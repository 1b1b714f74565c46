import CommandTable

/// Runs what throws errors of the layers below, as failures of a command.
func failing<Answer: ~Copyable>(
    _ body: () throws -> Answer
) throws(Failure) -> Answer {
    try failing("", body)
}

/// The same, naming what it was about.
func failing<Answer: ~Copyable>(
    _ what: String,
    _ body: () throws -> Answer
) throws(Failure) -> Answer {
    do {
        return try body()
    } catch let failure as Failure {
        throw failure
    } catch {
        throw Failure(.failed, what.isEmpty ? "\(error)" : "\(what): \(error)")
    }
}
