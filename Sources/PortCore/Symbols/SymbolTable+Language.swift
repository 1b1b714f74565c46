// What the language and Foundation lack on Linux.
extension SymbolTable {
    static let language: [Symbol] =
        [
            Symbol(
                "addObserver(_:selector:name:object:)",
                .language,
                .never,
                "Linux has no selectors.",
                instead:
                    "addObserver(forName:object:queue:using:) with a closure; keep what it "
                    + "returns, and remove that."
            ),
            Symbol(
                "removeObserver(_:)",
                .language,
                .differs,
                "It removes no closure: keep what addObserver returns, and remove that."
            ),
            Symbol(
                "#selector",
                .language,
                .never,
                "Linux has no selectors.",
                instead: "Pass a closure: most calls with a selector have a form that takes one."
            ),
            Symbol(
                "Selector",
                .language,
                .never,
                "Linux has no selectors.",
                instead: "Pass a closure."
            ),
            Symbol(
                "#keyPath",
                .language,
                .never,
                "Linux has no observation by keys.",
                instead: "Use a key path, \\Type.member, or didSet."
            ),
            Symbol(
                "@objc",
                .language,
                .never,
                "Linux has no Objective-C.",
                instead: "Remove it; call the method from Swift."
            ),
            Symbol(
                "@UIApplicationMain",
                .language,
                .never,
                "It is an attribute of compilers for iOS.",
                instead: "Write @main."
            ),
            Symbol("UIApplicationMain(_:_:_:_:)", .language, .here),
            Symbol(
                "error as NSError",
                .language,
                .differs,
                "A Swift error is no NSError here: catch … as NSError and as? NSError never match.",
                instead:
                    "catch the type, as BGTaskScheduler.Error; (error as NSError) has the code."
            ),
            Symbol(
                "call of an optional method",
                .language,
                .differs,
                "Methods of delegates have defaults; none is optional.",
                instead: "Call it without the ?."
            ),
            Symbol(
                "call of an expiration handler",
                .language,
                .differs,
                "A task's handler may belong to an actor, and is then not called like this: "
                    + "let handler: (() -> Void)? = task.expirationHandler can be."
            ),
            Symbol(
                "observe(_:options:changeHandler:)",
                .language,
                .never,
                "Linux has no observation by keys.",
                instead: "Use didSet."
            ),
            Symbol(
                "addObserver(_:forKeyPath:options:context:)",
                .label("forKeyPath"),
                .never,
                "Linux has no observation by keys.",
                instead: "Use didSet."
            ),
            Symbol(
                "autoreleasepool",
                .name,
                .never,
                "Linux has no Objective-C, whose objects wait in such a pool.",
                instead: "Write its closure's code alone."
            ),
            Symbol(
                "session types without their import",
                .language,
                .differs,
                "On Linux sessions, requests and responses are not in Foundation.",
                instead: "import Offstage for background sessions, else FoundationNetworking."
            ),
            Symbol(
                "notifications(named:)",
                .language,
                .never,
                "Foundation on Linux has no sequence of notifications.",
                instead: "An AsyncStream that addObserver(forName:object:queue:using:) feeds."
            ),
        ]
        + .all(
            ["IBAction", "IBOutlet", "IBInspectable", "IBDesignable"],
            .name,
            .never,
            "Linux has no storyboards.",
            instead: "Remove it; make the connection in code."
        )

    /// What an app without a delegate has in its scenes.
    static let swiftUI: [Symbol] =
        [
            Symbol(
                "UIApplicationDelegateAdaptor",
                .name,
                .never,
                "It belongs to SwiftUI.",
                instead: "Write @main before the delegate."
            ),
            Symbol(
                "backgroundTask(_:action:)",
                .language,
                .never,
                "It belongs to SwiftUI.",
                instead: "BGTaskScheduler.shared.register(…) in the delegate; for sessions, "
                    + "application(_:handleEventsForBackgroundURLSession:completionHandler:)."
            ),
        ]
        + .all(
            ["scenePhase", "ScenePhase"],
            .name,
            .never,
            "It belongs to SwiftUI.",
            instead: "The methods of a scene delegate, such as sceneDidEnterBackground(_:)."
        )

    /// Names of Combine's that others have too: they are meant where it is imported.
    static let onlyCombines = ["Publishers", "Future", "Just", "Empty", "Fail"]

    static let publishers: [Symbol] =
        [
            Symbol(
                "publisher(for:)",
                .language,
                .never,
                "Linux has no Combine.",
                instead: "addObserver(forName:object:queue:using:), or didSet for a property."
            ),
            Symbol(
                "Timer.publish",
                .path,
                .never,
                "Linux has no Combine.",
                instead: "Timer.scheduledTimer(withTimeInterval:repeats:block:)"
            ),
            Symbol(
                "dataTaskPublisher",
                .name,
                .never,
                "Linux has no Combine.",
                instead: "try await URLSession.shared.data(from:), with FoundationNetworking"
            ),
        ]
        + .all(
            [
                "AnyPublisher", "PassthroughSubject", "CurrentValueSubject", "AnyCancellable",
                "Cancellable",
            ] + onlyCombines,
            .name,
            .never,
            "Linux has no Combine.",
            instead: "An AsyncStream and a Task that reads it; cancel the task."
        )
        + .all(
            ["ObservableObject", "Published", "objectWillChange"],
            .name,
            .never,
            "Linux has no Combine.",
            instead: "@Observable of Observation, which Linux has."
        )
}
