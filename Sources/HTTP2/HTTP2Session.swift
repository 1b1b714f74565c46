internal import CNGHTTP2

/// One HTTP/2 connection, of either side, without its transport: bytes in, messages out, and the
/// other way round. Confined to one thread.
@safe
package final class HTTP2Session {
    package enum Role: Sendable { case server, client }

    let handle: OpaquePointer
    package let role: Role
    let limits: HTTP2Limits
    unowned let handler: any HTTP2Handler
    private let memory: HTTP2Memory?
    var streams: [Int32: HTTP2Stream] = [:]
    /// The one that was looked for last: what comes is often of the same.
    private var recent: HTTP2Stream?
    private var fields: [nghttp2_nv] = unsafe []
    private var spare: [HTTP2Stream] = []
    /// Those of the message that comes: they come in a row, and the stream is only looked for when
    /// all are there.
    private var gathered = HeaderBlock(capacity: 512, fields: 16)
    private var gatheredLimit = 0
    /// Bytes of messages that are not whole yet.
    private var unfinished = 0
    var traffic = HTTP2Traffic()
    private var hasAnnounced = false
    private var isLimited = false
    /// The caller's clock, for `cut(startedBefore:)`; any unit.
    package var clock: Int64 = 0

    /// Begins with our settings. The handler is not kept alive and must live as long.
    package init(
        _ role: Role,
        _ limits: HTTP2Limits = HTTP2Limits(),
        memory: HTTP2Memory? = nil,
        handler: any HTTP2Handler
    ) throws(HTTP2Error) {
        (self.role, self.limits, self.handler) = (role, limits, handler)
        self.memory = memory
        unsafe handle = try Self.open(role, limits)
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        try begin()
    }

    deinit {
        memory?.used -= unfinished
        unsafe nghttp2_session_del(handle)
    }

    private static func open(
        _ role: Role,
        _ limits: HTTP2Limits
    ) throws(HTTP2Error) -> OpaquePointer {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        var session: OpaquePointer?
        var code = unsafe nghttp2_session_callbacks_new(&callbacks)
        if code == 0 { code = unsafe nghttp2_option_new(&options) }
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(options)
        }
        guard code == 0 else { throw HTTP2Error("new session", code) }
        unsafe HTTP2Callbacks.install(callbacks)
        if let floods = limits.floods {
            unsafe nghttp2_option_set_max_outbound_ack(options, floods.acknowledgements)
            unsafe nghttp2_option_set_stream_reset_rate_limit(
                options,
                floods.resetBurst,
                floods.resetRate
            )
            unsafe nghttp2_option_set_max_continuations(options, floods.continuations)
        }
        unsafe nghttp2_option_set_max_settings(options, 32)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_deflate_dynamic_table_size(
            options,
            Int(limits.headerTable)
        )
        if role == .server {
            code = unsafe nghttp2_session_server_new2(&session, callbacks, nil, options)
        } else {
            code = unsafe nghttp2_session_client_new2(&session, callbacks, nil, options)
        }
        guard code == 0, let session = unsafe session else {
            throw HTTP2Error("new session", code)
        }
        return unsafe session
    }

    private func begin() throws(HTTP2Error) {
        var settings = [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, limits.headerTable),
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.streamWindow),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(limits.headerList)),
        ]
        if role == .client { settings[1] = (NGHTTP2_SETTINGS_ENABLE_PUSH, 0) }
        let entries = settings.map {
            nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1)
        }
        try check(
            "settings",
            unsafe nghttp2_submit_settings(handle, flags(NGHTTP2_FLAG_NONE), entries, entries.count)
        )
        isLimited = limits.announcedStreams != nil
        try check(
            "window",
            unsafe nghttp2_session_set_local_window_size(
                handle,
                flags(NGHTTP2_FLAG_NONE),
                0,
                limits.connectionWindow
            )
        )
    }

    // MARK: Bytes

    /// Takes what came from the peer; the handler is called for what is complete.
    package func receive(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        let count = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe nghttp2_session_mem_recv(handle, buffer.baseAddress, buffer.count)
        }
        guard count < 0 else { return }
        let error = HTTP2Error("receive", Int32(count))
        throw error.isFlood ? endFlood() : error
    }

    /// What came since this was last asked.
    package func takeTraffic() -> HTTP2Traffic {
        defer { traffic = HTTP2Traffic() }
        return traffic
    }

    /// The peer is told that it is too much, and the session is of no more use.
    package func endFlood() -> HTTP2Error {
        unsafe nghttp2_session_terminate_session(handle, HTTP2Code.enhanceYourCalm.rawValue)
        return HTTP2Error("receive", NGHTTP2_ERR_FLOODED.rawValue)
    }

    /// Appends what is to be sent, until `output` has about `limit` bytes. False: nothing is left.
    package func send(into output: inout [UInt8], upTo limit: Int) throws(HTTP2Error) -> Bool {
        while output.count < limit {
            var data: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(handle, &data)
            guard count >= 0 else { throw HTTP2Error("send", Int32(count)) }
            guard count > 0, let data = unsafe data else { return false }
            let start = output.count
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: data, count: count))
            if !hasAnnounced { announce(in: &output, from: start) }
        }
        return true
    }

    /// The library tells the peer what it enforces. Where less is to be told, the number is written
    /// into the first frame, which holds our settings in their order (RFC 9113 section 6.5.1).
    private func announce(in output: inout [UInt8], from start: Int) {
        hasAnnounced = true
        guard let streams = limits.announcedStreams else { return }
        var entry = start + Self.frameHead
        let end = output.count
        while entry + 6 <= end {
            if output[entry] == 0, output[entry + 1] == Self.maximumStreams {
                for (index, shift) in [24, 16, 8, 0].enumerated() {
                    output[entry + 2 + index] = UInt8(truncatingIfNeeded: streams >> shift)
                }
                return
            }
            entry += 6
        }
    }

    private static let frameHead = 9
    private static let maximumStreams: UInt8 = 3

    /// From now on the peer may use all its streams.
    package func allowAllStreams() throws(HTTP2Error) {
        guard isLimited else { return }
        isLimited = false
        let entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
            value: limits.streams
        )
        try check(
            "settings",
            unsafe nghttp2_submit_settings(handle, flags(NGHTTP2_FLAG_NONE), [entry], 1)
        )
    }

    /// Neither side has anything to say any more: the connection can be closed.
    package var isOver: Bool {
        unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
    }
    /// Streams that are open.
    package var openCount: Int { streams.count }

    // MARK: Messages

    /// Answers a request, HEAD without the body. A body goes out in one frame if the peer's window
    /// lets it. For a stream that is gone nothing happens.
    package func respond(
        to stream: Int32,
        _ headers: HeaderBlock,
        body: [UInt8] = []
    ) throws(HTTP2Error) {
        guard let state = self.stream(stream), !state.isAnswered else { return }
        state.isAnswered = true
        state.start = clock
        // Whoever asks for the head alone takes a body for the beginning of something else.
        let isHead = !body.isEmpty && state.headers[":method"]?.elementsEqual("HEAD".utf8) == true
        let body = isHead ? [] : body
        state.output = body
        let code = unsafe submit(headers) { fields, count in
            if body.isEmpty {
                return unsafe nghttp2_submit_response(handle, stream, fields, count, nil)
            }
            var provider = unsafe HTTP2Callbacks.provider
            return unsafe nghttp2_submit_response(handle, stream, fields, count, &provider)
        }
        try check("respond", code)
        // The rest of a request that was answered before its end is of no use; after a body it is
        // stopped when that went, or the body would come too late.
        if body.isEmpty, state.isCutOff || !state.isComplete { reset(stream, .noError) }
    }

    /// Sends a request; the stream on which its response comes.
    package func request(_ headers: HeaderBlock, body: [UInt8] = []) throws(HTTP2Error) -> Int32 {
        let state = take()
        state.output = body
        let stream = unsafe submit(headers) { fields, count in
            if body.isEmpty {
                return unsafe nghttp2_submit_request(handle, nil, fields, count, nil, nil)
            }
            var provider = unsafe HTTP2Callbacks.provider
            return unsafe nghttp2_submit_request(handle, nil, fields, count, &provider, nil)
        }
        guard stream > 0 else { throw HTTP2Error("request", stream) }
        state.start(stream, at: clock)
        add(state)
        return stream
    }

    private func submit(
        _ headers: HeaderBlock,
        _ call: (UnsafePointer<nghttp2_nv>, Int) -> Int32
    ) -> Int32 {
        unsafe headers.withFields { start, ends in
            unsafe fields.removeAll(keepingCapacity: true)
            var begin = 0
            for index in ends.indices {
                let (middle, end) = (Int(ends[index].name), Int(ends[index].value))
                let flag =
                    headers.isUnlisted(index) ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                let field = unsafe nghttp2_nv(
                    name: start + begin,
                    value: start + middle,
                    namelen: middle - begin,
                    valuelen: end - middle,
                    flags: UInt8(flag.rawValue)
                )
                unsafe fields.append(field)
                begin = end
            }
            return unsafe fields.withUnsafeBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return 0 }
                return unsafe call(base, buffer.count)
            }
        }
    }

    /// Ends a stream. What it still had to say is sent first if `code` is `noError`.
    package func reset(_ stream: Int32, _ code: HTTP2Code) {
        // Fails only without memory.
        unsafe nghttp2_submit_rst_stream(
            handle,
            flags(NGHTTP2_FLAG_NONE),
            stream,
            code.rawValue
        )
    }

    /// Resets the streams that have sent no whole message, or taken no whole answer, since before
    /// `instant`; how many.
    package func cut(startedBefore instant: Int64) -> Int {
        let late = streams.values.filter {
            $0.start < instant && (!$0.isComplete || $0.isAnswered)
        }.map(\.number)
        for stream in late.sorted() { reset(stream, .cancel) }
        return late.count
    }

    // MARK: The end

    /// No streams after those that came so far are taken; these are finished. `reason` is told.
    package func end(_ code: HTTP2Code, reason: [UInt8]) throws(HTTP2Error) {
        try check(
            "goaway",
            unsafe nghttp2_submit_goaway(
                handle,
                flags(NGHTTP2_FLAG_NONE),
                nghttp2_session_get_last_proc_stream_id(handle),
                code.rawValue,
                reason,
                reason.count
            )
        )
    }

    /// Sends a GOAWAY with the highest stream number: requests on their way are still taken.
    package func announceEnd() throws(HTTP2Error) {
        try check("goaway", unsafe nghttp2_submit_shutdown_notice(handle))
    }

    /// Sends a PING before everything else that waits to be sent. The handler's `answeredPing` is
    /// called when the answer arrives.
    package func ping() throws(HTTP2Error) {
        try check("ping", unsafe nghttp2_submit_ping(handle, flags(NGHTTP2_FLAG_NONE), nil))
    }

    // MARK: Streams

    func beginFields(upTo limit: Int) {
        gathered.removeAll()
        gatheredLimit = limit
    }

    /// False when there are too many.
    func addField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe gathered.append(name, value, upTo: gatheredLimit)
    }

    func endFields(for stream: HTTP2Stream) {
        // Behind a message that was handed over nothing counts.
        guard !stream.isComplete else { return }
        if stream.headers.count == 0 {
            swap(&stream.headers, &gathered)
        } else {
            stream.headers.append(contentsOf: gathered)
        }
    }

    /// Counts what was kept of a message that is not whole. False: there is no room for it.
    func keeps(_ count: Int, of stream: HTTP2Stream) -> Bool {
        guard role == .server else { return true }
        stream.held += count
        unfinished += count
        memory?.used += count
        let own = isLimited ? limits.unfinishedAtFirst : limits.unfinished
        return unfinished <= own && memory.map { $0.used <= $0.limit } ?? true
    }

    func keepsNoMore(of stream: HTTP2Stream) {
        unfinished -= stream.held
        memory?.used -= stream.held
        stream.held = 0
    }

    func stream(_ number: Int32) -> HTTP2Stream? {
        if let recent, recent.number == number { return recent }
        recent = streams[number]
        return recent
    }

    func add(_ stream: HTTP2Stream) {
        streams[stream.number] = stream
        recent = stream
    }

    func take() -> HTTP2Stream { spare.popLast() ?? HTTP2Stream() }

    func give(_ stream: HTTP2Stream) {
        keepsNoMore(of: stream)
        stream.clear()
        guard spare.count < 128 else { return }
        spare.append(stream)
    }

    private func check(_ operation: String, _ code: Int32) throws(HTTP2Error) {
        guard code == 0 else { throw HTTP2Error(operation, code) }
    }
}

func flags(_ flag: nghttp2_flag) -> UInt8 { UInt8(flag.rawValue) }
