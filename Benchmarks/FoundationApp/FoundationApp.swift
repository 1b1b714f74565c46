import Foundation

/// An app that does nothing, as `LinkedApp` does when it has nothing to do, without Offstage.
@main
enum FoundationApp {
    static func main() {
        while true { RunLoop.main.run() }
    }
}
