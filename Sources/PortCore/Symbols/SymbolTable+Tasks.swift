// BackgroundTasks, and what an app asks of its own process.
extension SymbolTable {
    static let backgroundTasks: [Symbol] =
        .all(
            [
                "BGTaskScheduler", "BGTask", "BGAppRefreshTask", "BGProcessingTask",
                "BGTaskRequest", "BGAppRefreshTaskRequest", "BGProcessingTaskRequest",
                "setTaskCompleted", "earliestBeginDate", "requiresNetworkConnectivity",
                "requiresExternalPower", "cancelAllTaskRequests", "getPendingTaskRequests",
                "pendingTaskRequests", "submitTaskRequest", "performExpiringActivity",
            ],
            .name,
            .here
        ) + [
            Symbol(
                "register(forTaskWithIdentifier:using:launchHandler:)",
                .label("forTaskWithIdentifier"),
                .here
            ),
            Symbol(
                "cancel(taskRequestWithIdentifier:)",
                .label("taskRequestWithIdentifier"),
                .here
            ),
            Symbol("BGTaskScheduler.Error", .path, .here),
        ]
        + .all(
            ["BGContinuedProcessingTask", "BGContinuedProcessingTaskRequest"],
            .name,
            .notYet,
            "Work that a user starts and watches is not handed over yet.",
            instead: "beginBackgroundTask(expirationHandler:) while the user waits."
        )
        + .all(
            ["BGHealthResearchTask", "BGHealthResearchTaskRequest"],
            .name,
            .notYet,
            "Nothing wakes an app for it.",
            instead: "BGProcessingTaskRequest"
        )
}
