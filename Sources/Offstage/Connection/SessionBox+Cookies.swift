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
