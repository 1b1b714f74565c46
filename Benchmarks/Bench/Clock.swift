import Linux
import Vocabulary

/// Nanoseconds that `body` takes.
func timed(_ body: () throws -> Void) rethrows -> Double {
    let begin = Clocks.now().awake
    try body()
    return Double((Clocks.now().awake - begin).nanoseconds)
}

/// Waits; a benchmark may, a test may not.
func pause(_ seconds: Int32) { pause(milliseconds: seconds * 1000) }

func pause(milliseconds: Int32) { _ = Poll.ready(-1, for: .readable, milliseconds: milliseconds) }
