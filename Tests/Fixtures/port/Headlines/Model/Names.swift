import Foundation

/// Names of Apple's that stand for something else here.
enum Names {
    struct Selector {
        init(css: String) {}
    }

    enum Timer {
        static func publish() {}
    }

    enum State {
        case Published
        case Future, Empty
    }

    func read(_ page: Page, serverTrust: Int) {
        let item = Selector(css: "a")
        Timer.publish()
        let call = API.CXHandle(kind: 1)
        read(page, serverTrust: 1)
        let earliestBeginDate = page.date
        print(earliestBeginDate, Empty(), [Just].self, Swift.Future)
        let module = BackgroundTasks.BGTask.self  // expect: BGTask
        let urlCache = page.cache
        self.urlCache = urlCache
        page.backgroundTask(1)
        Bundle(for: Page.self).bundleIdentifier
    }
}
