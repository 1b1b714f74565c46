internal import CNGHTTP2

/// What the library calls; each finds its session by the pointer given to it.
enum HTTP2Callbacks {
    static func install(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) {
            let kind = unsafe $1.map { unsafe UInt32($0.pointee.type) }
            unsafe HTTP2Callbacks.session($2)?.beganFrame(
                opensStream: kind == NGHTTP2_HEADERS.rawValue
            )
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) {
            unsafe HTTP2Callbacks.session($2)?.beganHeaders(unsafe $1) ?? 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _,
            frame,
            name,
            nameCount,
            value,
            valueCount,
            _,
            context in
            guard let frame = unsafe frame else { return 0 }
            return unsafe HTTP2Callbacks.session(context)?.received(
                unsafe UnsafeBufferPointer(start: name, count: nameCount),
                unsafe UnsafeBufferPointer(start: value, count: valueCount),
                on: frame.pointee.hd.stream_id
            ) ?? 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _,
            _,
            stream,
            data,
            count,
            context in
            let bytes = unsafe UnsafeBufferPointer(start: data, count: count)
            return unsafe HTTP2Callbacks.session(context)?.received(bytes, on: stream) ?? 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) {
            unsafe HTTP2Callbacks.session($2)?.receivedFrame(unsafe $1) ?? 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
            unsafe HTTP2Callbacks.session($3)?.closed($1, HTTP2Code(rawValue: $2)) ?? 0
        }
    }

    /// Where the library reads bodies from.
    static var provider: nghttp2_data_provider {
        unsafe nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, stream, buffer, length, flags, _, context in
                guard let session = unsafe HTTP2Callbacks.session(context),
                    let buffer = unsafe buffer, let flags = unsafe flags
                else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
                let target = unsafe UnsafeMutableBufferPointer(start: buffer, count: length)
                let (count, isEnd) = unsafe session.read(into: target, of: stream)
                if isEnd { unsafe flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
                return count
            }
        )
    }

    private static func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<HTTP2Session>.fromOpaque(context).takeUnretainedValue()
    }
}

extension HTTP2Session {
    fileprivate func beganFrame(opensStream: Bool) {
        traffic.frames += 1
        if opensStream { traffic.openings += 1 }
    }

    fileprivate func beganHeaders(_ frame: UnsafePointer<nghttp2_frame>?) -> Int32 {
        guard let frame = unsafe frame,
            unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue)
        else { return 0 }
        let number = unsafe frame.pointee.hd.stream_id
        var size = 0
        if let stream = self.stream(number) {
            // Trailers, or the response to a request of ours.
            size = stream.headers.size
        } else if role == .server {
            let stream = take()
            stream.start(number, at: clock)
            add(stream)
        }
        beginFields(upTo: limits.headerList - size)
        return 0
    }

    fileprivate func received(
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>,
        on number: Int32
    ) -> Int32 {
        guard unsafe !addField(name, value) else { return 0 }
        traffic.wastedHeaders += 1
        // Resets the stream; the connection's table of fields stays right.
        reset(number, .enhanceYourCalm)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    fileprivate func received(_ bytes: UnsafeBufferPointer<UInt8>, on number: Int32) -> Int32 {
        guard let stream = self.stream(number), !stream.isComplete else { return 0 }
        traffic.pieces += 1
        let room = limits.body - stream.body.count
        if bytes.count <= room {
            unsafe stream.body.append(contentsOf: bytes)
            if !keeps(bytes.count, of: stream) { turnAway(stream) }
        } else {
            unsafe stream.body.append(contentsOf: bytes.prefix(max(0, room)))
            stream.isCutOff = true
            handOver(stream)
        }
        return 0
    }

    fileprivate func receivedFrame(_ frame: UnsafePointer<nghttp2_frame>?) -> Int32 {
        guard let frame = unsafe frame else { return 0 }
        let head = unsafe frame.pointee.hd
        if head.type == UInt8(NGHTTP2_HEADERS.rawValue), let stream = self.stream(head.stream_id) {
            endFields(for: stream)
        }
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard let stream = self.stream(head.stream_id), !stream.isComplete else { return 0 }
            if head.flags & flags(NGHTTP2_FLAG_END_STREAM) != 0 {
                handOver(stream)
            } else if head.type == UInt8(NGHTTP2_HEADERS.rawValue),
                !keeps(stream.headers.size + Self.streamMemory, of: stream)
            {
                turnAway(stream)
            }
        case NGHTTP2_PING.rawValue:
            if head.flags & flags(NGHTTP2_FLAG_ACK) != 0 { handler.answeredPing() }
        case NGHTTP2_GOAWAY.rawValue:
            let goodbye = unsafe frame.pointee.goaway
            let reason = unsafe UnsafeBufferPointer(
                start: goodbye.opaque_data,
                count: goodbye.opaque_data_len
            )
            unsafe handler.saidGoodbye(
                lastStream: goodbye.last_stream_id,
                HTTP2Code(rawValue: goodbye.error_code),
                Array(reason)
            )
        default: break
        }
        return 0
    }

    /// Roughly what a stream takes that has said nothing.
    private static let streamMemory = 512

    /// The rest of a request is not waited for: it is answered at once.
    private func turnAway(_ stream: HTTP2Stream) {
        (stream.isComplete, stream.isCutOff) = (true, true)
        keepsNoMore(of: stream)
        stream.forgetMessage()
        handler.turnedAway(stream.number)
    }

    private func handOver(_ stream: HTTP2Stream) {
        stream.isComplete = true
        keepsNoMore(of: stream)
        traffic.messages += 1
        let message = HTTP2Message(
            stream: stream.number,
            headers: stream.headers,
            body: stream.body,
            isCutOff: stream.isCutOff
        )
        stream.forgetMessage()
        handler.received(message)
    }

    fileprivate func closed(_ number: Int32, _ code: HTTP2Code) -> Int32 {
        guard let stream = streams.removeValue(forKey: number) else { return 0 }
        if role == .server ? !stream.isAnswered : !stream.isComplete {
            handler.broken(number, code)
        }
        give(stream)
        return 0
    }

    fileprivate func read(
        into buffer: UnsafeMutableBufferPointer<UInt8>,
        of number: Int32
    ) -> (count: Int, isEnd: Bool) {
        guard let stream = self.stream(number) else { return (0, true) }
        let count = min(buffer.count, stream.output.count - stream.sent)
        for index in 0..<count { unsafe buffer[index] = stream.output[stream.sent + index] }
        stream.sent += count
        let isEnd = stream.sent == stream.output.count
        if isEnd, stream.isCutOff { reset(number, .noError) }
        return (count, isEnd)
    }
}
