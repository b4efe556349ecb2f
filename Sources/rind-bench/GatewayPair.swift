// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A backend that streams the same lines to everybody, and the gateway in front of it.
struct GatewayPair {
    /// The error of a gateway that was not built.
    struct NoGateway: Error, CustomStringConvertible {
        let description = "rind is not beside rind-bench: build it with 'swift build -c release --product rind'"
    }

    let gateway: ServerProcess
    private let backend: ServerProcess

    /// Starts both, with their files in `directory`, and waits until they are ready.
    ///
    /// - Parameters:
    ///   - stream: The backend's arguments.
    ///   - settings: Sections that the gateway's configuration gets besides.
    ///   - directory: Where both write their files.
    /// - Throws: ``NoGateway``, and the errors of a server that does not start.
    init(stream: [String], settings: String = "", directory: URL) async throws {
        guard let rind = Tools.rind else { throw NoGateway() }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let backendPort = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own, arguments: ["serve-stream"] + stream + ["--port", "\(backendPort)"],
            port: backendPort, directory: directory)
        let port = try await ServerProcess.freePort()
        let file = directory.appendingPathComponent("rind.ini")
        let state = directory.appendingPathComponent("rind.db")
        try (GatewayBaseline.idle(port: port, backendPort: backendPort, state: state) + settings)
            .write(to: file, atomically: true, encoding: .utf8)
        gateway = try ServerProcess(
            "rind", executable: rind, arguments: ["serve", "--config", file.path], port: port, directory: directory)
        do {
            try await backend.waitUntilReady()
            try await gateway.waitUntilReady()
        } catch {
            await stop()
            throw error
        }
    }

    /// Ends both.
    func stop() async {
        await gateway.stop()
        await backend.stop()
    }
}
