import Foundation
import PackagePlugin

/// Writes the identity of the cores' source into the target that tells it (`Version.build`), anew
/// whenever one of their files has changed.
@main
struct CoreIdentity: BuildToolPlugin {
    func createBuildCommands(
        context: PluginContext,
        target: any Target
    ) async throws -> [PackagePlugin.Command] {
        let script = context.package.directoryURL.appending(path: "scripts/core-identity")
        let output = context.pluginWorkDirectoryURL.appending(path: "CoreIdentity.swift")
        let sources = try context.package.targets(named: ["DeviceCore", "Vocabulary"])
            .compactMap(\.sourceModule).flatMap { $0.sourceFiles.map(\.url) }
        return [
            .buildCommand(
                displayName: "Identity of the core",
                executable: URL(filePath: "/bin/bash"),
                arguments: [script.path, output.path],
                inputFiles: sources + [script],
                outputFiles: [output]
            )
        ]
    }
}
