internal import Foundation
internal import Vocabulary

/// Cookies of the session's storage: those that go with a task, and those that its answer sets.
extension SessionBox {
    /// Nil: none go with it. `fields`: the others, which may have cookies already.
    func cookieField(for request: URLRequest, beside fields: [String: String]) -> String? {
        guard options.sendsCookies, request.httpShouldHandleCookies,
            let storage = options.cookies, let url = request.url,
            !fields.keys.contains(where: { $0.lowercased() == "cookie" })
        else { return nil }
        return storage.field(for: url)
    }

    func keepCookies(of end: SessionTaskEnd, _ task: URLSessionTask) {
        let fields = end.headers?.values(of: "Set-Cookie") ?? []
        guard !fields.isEmpty, let storage = options.cookies,
            task.originalRequest?.httpShouldHandleCookies ?? true,
            let url = URL(string: end.url ?? end.task.url)
        else { return }
        let asked = URL(string: end.task.currentURL ?? end.task.url)
        guard options.cookiePolicy.accepts(from: url, askedAs: asked) else { return }
        storage.keep(fields, from: url)
    }
}

extension URLRequest {
    /// A copy of a request that the daemon has kept, with another URL, does not take the cookies of
    /// that request to another origin. What the app has put in their place stays.
    var withoutForeignCookies: URLRequest {
        guard let keptCookies,
            url.flatMap({ Origin($0.absoluteString) }) != Origin(keptCookies.url.absoluteString)
        else { return self }
        var request = self
        request.keptCookies = nil
        for (name, value) in allHTTPHeaderFields ?? [:]
        where name.lowercased() == "cookie" && value == keptCookies.field {
            request.allHTTPHeaderFields?[name] = nil
        }
        return request
    }
}
