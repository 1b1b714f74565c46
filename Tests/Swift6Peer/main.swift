import Offstage

// An app in today's language mode that names its delegate in a call.
UIApplicationMain(
    CommandLine.argc,
    CommandLine.unsafeArgv,
    ProcessInfo.processInfo.environment["PRINCIPAL"],
    ProcessInfo.processInfo.environment["DELEGATE"] ?? NSStringFromClass(AppDelegate.self)
)
