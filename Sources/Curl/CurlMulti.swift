import CCurl

/// Many requests at once, on the caller's event loop and one thread.
@safe
package final class CurlMulti {
    /// What is waited for on a socket.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let readable = Interest(rawValue: 1)
        package static let writable = Interest(rawValue: 2)
        package static let error = Interest(rawValue: 4)
    }

    /// Waits for this on the socket from now on; nothing: not any more.
    package var watch: (Int32, Interest) -> Void = { _, _ in }
    /// `timeOut` is to be called after so many milliseconds; nil: not by time alone.
    package var setTimer: (Int?) -> Void = { _ in }

    @unsafe private let handle: UnsafeMutableRawPointer
    /// Those that are added, kept alive.
    private var requests: [ObjectIdentifier: CurlRequest] = [:]

    package init(connectionsPerHost: Int, connections: Int) throws(CurlError) {
        try CurlLibrary.prepare()
        guard let multi = unsafe curl_multi_init() else {
            throw CurlError(CURLE_OUT_OF_MEMORY, "")
        }
        unsafe handle = multi
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
        unsafe ccurl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, connections)
        unsafe ccurl_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, me)
        unsafe ccurl_multi_set_pointer(handle, CURLMOPT_TIMERDATA, me)
        unsafe ccurl_multi_set_socket(handle) { _, socket, what, context, _ in
            guard let context = unsafe context else { return 0 }
            let multi = unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
            multi.watch(socket, CurlMulti.interest(what))
            return 0
        }
        unsafe ccurl_multi_set_timer(handle) { _, milliseconds, context in
            guard let context = unsafe context else { return 0 }
            let multi = unsafe Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
            multi.setTimer(milliseconds < 0 ? nil : milliseconds)
            return 0
        }
    }

    deinit {
        // Whom these tell is going as well.
        (watch, setTimer) = ({ _, _ in }, { _ in })
        for request in requests.values {
            unsafe curl_multi_remove_handle(handle, request.handle)
        }
        unsafe curl_multi_cleanup(handle)
    }

    private static func interest(_ what: Int32) -> Interest {
        switch what {
        case CURL_POLL_IN: .readable
        case CURL_POLL_OUT: .writable
        case CURL_POLL_INOUT: [.readable, .writable]
        default: []
        }
    }

    /// Begins it with the next `timeOut`, which is asked for. Not from within a request's closures.
    package func add(_ request: CurlRequest) throws(CurlError) {
        requests[ObjectIdentifier(request)] = request
        guard unsafe curl_multi_add_handle(handle, request.handle) == CURLM_OK else {
            requests[ObjectIdentifier(request)] = nil
            throw CurlError(CURLE_OUT_OF_MEMORY, "")
        }
    }

    /// Ends it without a word. Not from within a request's closures.
    package func remove(_ request: CurlRequest) {
        guard requests.removeValue(forKey: ObjectIdentifier(request)) != nil else { return }
        unsafe curl_multi_remove_handle(handle, request.handle)
    }

    /// The socket is ready.
    package func act(_ socket: Int32, _ interest: Interest) {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(handle, socket, interest.rawValue, &running)
    }

    package func timeOut() { act(CURL_SOCKET_TIMEOUT, []) }

    /// One that has ended since this was asked last, and how; it is removed. Nil: none has.
    package func next() -> (request: CurlRequest, error: CurlError?)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let easy = unsafe message.pointee.easy_handle
            else { continue }
            let code = unsafe message.pointee.data.result
            guard let request = unsafe CurlRequest.of(easy) else { continue }
            let error = request.error(code)
            remove(request)
            return (request, error)
        }
        return nil
    }
}
