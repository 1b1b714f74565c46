internal import AppProtocol
internal import ClientCore
public import Dispatch
public import Foundation
internal import Vocabulary

/// Asks for launches in the background, and takes the handlers for them.
///
/// Any thread may use it. Without a daemon every request fails at once with
/// ``Error/Code/unavailable``; nothing hangs.
public class BGTaskScheduler: NSObject, @unchecked Sendable {  // All state: the session's lock.
    /// The scheduler of this app.
    public static let shared = BGTaskScheduler(.shared)

    /// The domain of ``Error``.
    public static let errorDomain = "BGTaskSchedulerErrorDomain"

    private let session: AppSession

    init(_ session: AppSession) {
        self.session = session
        super.init()
    }

    // MARK: Handlers

    /// Registers what runs when a task of this identifier is launched; before launching ends,
    /// once for each identifier that the manifest lists.
    ///
    /// The handler runs on the actor that it belongs to, if any, else on `queue`.
    ///
    /// - Parameters:
    ///   - identifier: As `PermittedTaskIdentifiers` of the manifest has it.
    ///   - queue: Where the handler runs; nil: a serial background queue.
    ///   - launchHandler: Does the work, and sees that the task is completed.
    /// - Returns: False when the identifier is not permitted, has a handler already, or launching
    ///   has ended; which of them is on standard error. The handler is then never called.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue?,
        launchHandler: @escaping @isolated(any) (BGTask) -> Void
    ) -> Bool {
        let handler = LaunchHandler(Handler(launchHandler), queue: queue)
        guard let mistake = session.register(handler, for: identifier) else { return true }
        session.mistaken(
            mistake,
            identifier,
            "no handler was registered for \(identifier): \(Self.explanation(mistake))"
        )
        return false
    }

    private static func explanation(_ mistake: AppMistakeName) -> String {
        switch mistake {
        case .registeredLate:
            "handlers are registered before launching ends, in "
                + "application(_:didFinishLaunchingWithOptions:)"
        case .registeredTwice:
            "a handler is registered for it already (register once per launch)"
        case .registeredUnpermitted:
            "the manifest does not permit it (add it to PermittedTaskIdentifiers)"
        case .completedAgain, .letGo: mistake.rawValue
        }
    }

    // MARK: Requests

    /// Asks for a launch and waits until the request is durable. A pending request of the same
    /// identifier is replaced.
    ///
    /// - Parameter taskRequest: What for; it is copied.
    /// - Throws: ``Error``.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        do {
            _ = try session.call(try Self.call(taskRequest))
        } catch let error as CallError {
            throw Error(error)
        }
    }

    /// Asks for a launch without waiting. A pending request of the same identifier is replaced.
    ///
    /// - Parameters:
    ///   - taskRequest: What for; it is copied.
    ///   - completionHandler: Called on a background queue; nil: the request is durable.
    @preconcurrency
    public func submitTaskRequest(
        _ taskRequest: BGTaskRequest,
        completionHandler: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) {
        let call: App1.Submit
        do {
            call = try Self.call(taskRequest)
        } catch {
            return DispatchQueue.global().async { completionHandler(error) }
        }
        session.ask(
            OutgoingCall(call) { answer in
                DispatchQueue.global().async {
                    switch answer {
                    case .success: completionHandler(nil)
                    case .failure(let error): completionHandler(Error(error))
                    }
                }
            }
        )
    }

    /// Asks for a launch; the request is durable when this returns. A pending request of the same
    /// identifier is replaced.
    ///
    /// - Parameter taskRequest: What for; it is copied.
    /// - Throws: ``Error``.
    public func submitTaskRequest(_ taskRequest: BGTaskRequest) async throws {
        let call = try Self.call(taskRequest)
        try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<Void, any Swift.Error>) in
            session.ask(
                OutgoingCall(call) { answer in
                    done.resume(with: answer.map { _ in }.mapError { Error($0) })
                }
            )
        }
    }

    /// Takes a pending request back. What has been delivered goes on; an unknown identifier is
    /// none.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        // An empty name would mean all. One with a zero byte nothing can have been submitted by.
        guard !identifier.isEmpty, !identifier.hasZeroByte else { return }
        cancel(identifier)
    }

    /// Takes all pending requests of the app back.
    public func cancelAllTaskRequests() {
        cancel("")
    }

    private func cancel(_ identifier: String) {
        session.ask(
            OutgoingCall(App1.Cancel { $0.identifier = identifier }, .kept) { answer in
                guard case .failure(let error) = answer else { return }
                let what = identifier.isEmpty ? "the requests were" : "request \(identifier) was"
                LibraryLog.write("\(what) not cancelled: \(error.text)")
            }
        )
    }

    /// Asks what was submitted and not yet delivered.
    ///
    /// - Parameter completionHandler: Gets copies; none without a daemon. It runs on the actor
    ///   that it belongs to, else on a background queue.
    public func getPendingTaskRequests(
        completionHandler: @escaping @isolated(any) ([BGTaskRequest]) -> Void
    ) {
        let handler = Handler(completionHandler)
        session.ask(
            OutgoingCall(App1.Pending()) { answer in
                handler.call(Self.requests(answer), on: .global())
            }
        )
    }

    /// What was submitted and not yet delivered, as copies; none without a daemon.
    public func pendingTaskRequests() async -> [BGTaskRequest] {
        await withCheckedContinuation { done in
            session.ask(OutgoingCall(App1.Pending()) { done.resume(returning: Self.requests($0)) })
        }
    }

    // MARK: Requests as the daemon has them

    private static func call(_ request: BGTaskRequest) throws -> App1.Submit {
        // D-Bus would carry another identifier in its place, which may be permitted.
        guard !request.identifier.hasZeroByte else {
            throw Error(
                .notPermitted,
                reason: "an identifier has no zero byte: \(request.identifier.quoted) (use one "
                    + "that PermittedTaskIdentifiers of the manifest lists)"
            )
        }
        var call = App1.Submit { ($0.identifier, $0.token) = (request.identifier, UUID.token) }
        switch request {
        case is BGAppRefreshTaskRequest: call.kind = .refresh
        case let request as BGProcessingTaskRequest:
            call.kind = .processing
            call.needs.network = request.requiresNetworkConnectivity
            call.needs.power = request.requiresExternalPower
        default:
            throw Error(
                .notPermitted,
                reason: "a request is a BGAppRefreshTaskRequest or a BGProcessingTaskRequest: "
                    + "\(type(of: request)) (make one of them)"
            )
        }
        call.earliest = request.earliestBeginDate.flatMap {
            WallTime(secondsSince1970: $0.timeIntervalSince1970)
        }
        return call
    }

    private static func requests(
        _ answer: Result<PendingRequests, CallError>
    ) -> [BGTaskRequest] {
        ((try? answer.get())?.requests ?? []).compactMap { pending in
            let request: BGTaskRequest
            switch pending.kind.known {
            case .refresh: request = BGAppRefreshTaskRequest(identifier: pending.identifier)
            case .processing:
                let processing = BGProcessingTaskRequest(identifier: pending.identifier)
                processing.requiresNetworkConnectivity = pending.network ?? false
                processing.requiresExternalPower = pending.power ?? false
                request = processing
            // A later daemon's.
            case nil: return nil
            }
            request.earliestBeginDate = pending.earliest.map { Date(timeIntervalSince1970: $0) }
            return request
        }
    }
}
