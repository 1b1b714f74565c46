import ThirdParty

/// Types of this project with names of Apple's; the first holds for all of its files.
protocol BGTaskRequest {}

struct Kept {
    enum UNNotification { case shown }

    func take(_ request: any BGTaskRequest, _ notification: UNNotification) {}
}
