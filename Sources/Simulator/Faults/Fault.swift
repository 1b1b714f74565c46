/// Everything that goes wrong in the virtual world, by kind.
package enum Fault: String, CaseIterable, Hashable, Sendable, Codable {
    // The daemon and its store.
    case killBeforeCommit, killInCommit, killAfterCommit, killBetweenEffects, longOutage
    case storeFull, storeFailing, lostWrites, stopped
    // The device.
    case reboot, clockForward, clockBack, zoneChange, lateTimer, spuriousTimer
    case memoryPressure, thermal, sensorLost, networkLost, metered, lowData, lowPower
    case noRoomForFile, noRoomForProcess
    // Commands.
    case notStarted, exitRetry, exitFailed, commandCrash, neverEnds, ignoresTerm, probeSilent
    // Linked apps.
    case appCrash, crashBeforeReceipt, neverAccepts, neverCompletes, completesTwice
    case launchLate, launchNever, disconnect, stopsReading, taskNeverEnded, outlivesGrant
    case declines, connectsTwice
    // Either.
    case memoryHog, cpuHog, fileLock
    // The user and the files.
    case manifestInvalid, manifestRemoved, manifestEdited, settingsChanged, retriedToken
    case cancelled, paused, closed, simulated, userInitiated, fetched
    // Downloads.
    case connectionLost, objectChanged, badServer, networkKilled, unauthorized

    var index: Int { Self.all.firstIndex(of: self) ?? 0 }

    private static let all = allCases
}
