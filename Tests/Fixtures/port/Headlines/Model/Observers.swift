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

    @objc private func entered() {}  // expect: @objc
    @objc(count) dynamic var count = 0  // expect: @objc

    func read() async {
        let center = NotificationCenter.default
        for await _ in center.notifications(named: .init("a")) {}  // expect: notifications(named:)
    }
}

@objcMembers  // expect: @objc
final class Members: NSObject {}
