import Offstage

// An app in today's language mode that names its delegate in a call.
UIApplicationMain(
    CommandLine.argc,
    CommandLine.unsafeArgv,
    nil,
    ProcessInfo.processInfo.environment["DELEGATE"] ?? NSStringFromClass(AppDelegate.self)
)
