import Foundation

extension Magazine {
    func publisher(of issue: Int) -> Int { issue }
}

#if DEBUG
struct Debug {
#else
struct Release {
#endif
    // The brace that is open is one.
}

protocol CXTransaction {}
