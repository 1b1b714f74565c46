import Vocabulary

extension Cookie: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            domain: try fields.take(),
            path: try fields.take(),
            name: try fields.take(),
            value: try fields.take()
        )
        coversNamesBelow = try fields.take()
        isSecure = try fields.take()
        expires = try fields.take()
    }

    func put(to fields: inout FieldWriter) {
        fields.put(domain)
        fields.put(path)
        fields.put(name)
        fields.put(value)
        fields.put(coversNamesBelow)
        fields.put(isSecure)
        fields.put(expires)
    }
}

extension Credentials: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init()
        cookies = try fields.take()
        logins = try fields.take()
        answers = try fields.take()
        certificate = try fields.take()
    }

    func put(to fields: inout FieldWriter) {
        fields.put(cookies)
        fields.put(logins)
        fields.put(answers)
        fields.put(certificate)
    }
}

extension Credentials.Login: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(host: try fields.take(), user: try fields.take(), password: try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(host)
        fields.put(user)
        fields.put(password)
    }
}

extension Credentials.AnsweredChallenge: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(
            url: try fields.take(),
            challenge: try fields.take(),
            user: try fields.take(),
            password: try fields.take()
        )
    }

    func put(to fields: inout FieldWriter) {
        fields.put(url)
        fields.put(challenge)
        fields.put(user)
        fields.put(password)
    }
}

extension HTTPChallenge: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(scheme: try fields.take(), parameters: try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(scheme)
        fields.put(parameters)
    }
}

extension Credentials.ClientCertificate: LinkValue {
    init(from fields: inout FieldReader) throws(NetworkError) {
        self.init(certificate: try fields.take(), key: try fields.take())
    }

    func put(to fields: inout FieldWriter) {
        fields.put(certificate)
        fields.put(key)
    }
}
