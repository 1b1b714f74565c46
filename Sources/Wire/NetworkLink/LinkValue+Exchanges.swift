import Vocabulary

extension ExchangeOrder.ErrorAnswers: LinkChoice {}
extension ExchangeEnd.Interruption.Cause: LinkChoice {}
extension ExchangeFailure.Code: LinkChoice {}
extension SandboxPart: LinkChoice {}
extension UploadMethod: LinkChoice {}
extension UploadInterop: LinkChoice {}

extension HTTPField: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(try fields.take(), try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(name)
        fields.put(value)
    }
}

extension Validator: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        switch try fields.byte() {
        case 0: self = .lastModified(try fields.take())
        case 1: self = .entityTag(try fields.take())
        case 2: self = .encodedTag(try fields.take(), coding: try fields.take())
        case _: throw NetworkError("no such validator")
        }
    }

    func put(to fields: inout FieldWriter) {
        switch self {
        case .lastModified(let date):
            fields.byte(0)
            fields.put(date)
        case .entityTag(let tag):
            fields.byte(1)
            fields.put(tag)
        case .encodedTag(let tag, let coding):
            fields.byte(2)
            fields.put(tag)
            fields.put(coding)
        }
    }
}

extension ResumePoint: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            offset: try fields.take(),
            validator: try fields.take(),
            total: try fields.take()
        )
        ranges = try fields.take()
    }

    func put(to fields: inout FieldWriter) {
        fields.put(offset)
        fields.put(validator)
        fields.put(total)
        fields.put(ranges)
    }
}

extension ExchangeOrder: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            url: try fields.take(),
            headers: try fields.take(),
            resume: try fields.take(),
            errors: try fields.take(),
            timeout: try fields.take(),
            sizeLimit: try fields.take(),
            sha256: try fields.take(Bytes?.self)?.array,
            rateLimit: try fields.take(),
            proxy: try fields.take(),
            credentials: try fields.take()
        )
        reportsChallenges = try fields.take()
        moreConnections = try fields.take()
        connectionsPerHost = try fields.take()
    }

    func put(to fields: inout FieldWriter) {
        fields.put(url)
        fields.put(headers)
        fields.put(resume)
        fields.put(errors)
        fields.put(timeout)
        fields.put(sizeLimit)
        fields.put(sha256.map { Bytes($0) })
        fields.put(rateLimit)
        fields.put(proxy)
        fields.put(credentials)
        fields.put(reportsChallenges)
        fields.put(moreConnections)
        fields.put(connectionsPerHost)
    }
}

extension ExchangeAnswer: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            status: try fields.take(),
            headers: try fields.take(),
            url: try fields.take(),
            total: try fields.take(),
            validator: try fields.take(),
            offset: try fields.take(),
            startsAnew: try fields.take()
        )
        moreConnections = try fields.take()
        isWhole = try fields.take()
        body = try fields.take()
    }

    func put(to fields: inout FieldWriter) {
        fields.put(status)
        fields.put(headers)
        fields.put(url)
        fields.put(total)
        fields.put(validator)
        fields.put(offset)
        fields.put(startsAnew)
        fields.put(moreConnections)
        fields.put(isWhole)
        fields.put(body)
    }
}

extension ExchangeEnd: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self =
            switch try fields.byte() {
            case 0: .complete(size: try fields.take())
            case 1:
                .interrupted(
                    .init(
                        try fields.take(),
                        reason: try fields.take(),
                        retryAfter: try fields.take()
                    )
                )
            case 2: .failed(ExchangeFailure(try fields.take(), reason: try fields.take()))
            case 3: .challenged(try fields.take())
            case _: throw NetworkError("no such end")
            }
    }

    func put(to fields: inout FieldWriter) {
        switch self {
        case .complete(let size):
            fields.byte(0)
            fields.put(size)
        case .interrupted(let interruption):
            fields.byte(1)
            fields.put(interruption.cause)
            fields.put(interruption.reason)
            fields.put(interruption.retryAfter)
        case .failed(let failure):
            fields.byte(2)
            fields.put(failure.code)
            fields.put(failure.reason)
        case .challenged(let answer):
            fields.byte(3)
            fields.put(answer)
        }
    }
}

// MARK: Uploads

extension FileIdentity: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(size: try fields.take(), modified: try fields.take(), inode: try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(size)
        fields.put(modified)
        fields.put(inode)
    }
}

extension UploadResource: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(url: try fields.take(), interop: try fields.take(), offset: try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(url)
        fields.put(interop)
        fields.put(offset)
    }
}

extension SentPart: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(count: try fields.take(), sha256: try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(count)
        fields.put(sha256)
    }
}

extension UploadOrder: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            url: try fields.take(),
            method: try fields.take(),
            headers: try fields.take(),
            source: try fields.take(),
            resource: try fields.take(),
            interop: try fields.take(),
            mayRepeat: try fields.take(),
            errors: try fields.take(),
            timeout: try fields.take(),
            rateLimit: try fields.take(),
            proxy: try fields.take(),
            credentials: try fields.take()
        )
        reportsChallenges = try fields.take()
        connectionsPerHost = try fields.take()
        sent = try fields.take()
    }

    func put(to fields: inout FieldWriter) {
        fields.put(url)
        fields.put(method)
        fields.put(headers)
        fields.put(source)
        fields.put(resource)
        fields.put(interop)
        fields.put(mayRepeat)
        fields.put(errors)
        fields.put(timeout)
        fields.put(rateLimit)
        fields.put(proxy)
        fields.put(credentials)
        fields.put(reportsChallenges)
        fields.put(connectionsPerHost)
        fields.put(sent)
    }
}

extension UploadRemoval: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            resource: try fields.take(),
            url: try fields.take(),
            headers: try fields.take(),
            proxy: try fields.take()
        )
    }

    func put(to fields: inout FieldWriter) {
        fields.put(resource)
        fields.put(url)
        fields.put(headers)
        fields.put(proxy)
    }
}
