import Foundation

final class Observers: NSObject {
    func start() {
        let center = NotificationCenter.default
        center.addObserver(  // expect: addObserver(_:selector:name:object:)
            self,
            selector: #selector(entered),
            name: UIApplication.didEnterBackgroundNotification,
            // expect^: UIApplication | UIApplication.didEnterBackgroundNotification
            object: nil
        )
        center.addObserver(forName: .init("a"), object: nil, queue: nil) { _ in }
        let timer = Timer(timeInterval: 1, target: self, selector: #selector(entered))
        // expect^: #selector
        let name = Selector("entered")  // expect: Selector
        let path = #keyPath(Observers.count)  // expect: #keyPath
    }

    deinit {
        NotificationCenter.default.removeObserver(self)  // expect: removeObserver(_:)
        NotificationCenter.default.removeObserver(self, name: .init("a"), object: nil)
        // expect^: removeObserver(_:)
        NotificationCenter.default.removeObserver(held)
        model.removeObserver(self, forKey: "count")
        list.removeObserver(at: 1)
    }

    @objc private func entered() {}  // expect: @objc
    @objc(count) dynamic var count = 0  // expect: @objc

    func read() async {
        let center = NotificationCenter.default
        for await _ in center.notifications(named: .init("a")) {}  // expect: notifications(named:)
    }
}

@objcMembers  // expect: @objc
final class Members: NSObject {}
