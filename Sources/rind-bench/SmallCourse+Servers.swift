// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

// The servers.
extension SmallCourse {
    private var requests: SmallRequests {
        SmallRequests(plan.scenario, sizes: plan.sizes, callers: plan.callers)
    }

    func addNginx() async throws {
        guard let nginx = Tools.find("nginx") else {
            notes.append("nginx is not installed: there is nothing to compare with (apt-get install nginx-light).")
            return
        }
        let port = try await ServerProcess.freePort()
        let configuration = NginxBaseline.configuration(
            port: port, backendPort: backend.port, isBuffering: true, directory: directory, keptConnections: 256)
        let file = try write(configuration, to: "nginx.conf")
        let server = try ServerProcess(
            "nginx", executable: nginx, arguments: ["-p", directory.path, "-c", file, "-e", "stderr"], port: port,
            directory: directory)
        contestants.append(
            Contestant("nginx", server, version: Tools.version(nginx, "-v"), requests: requests, isPassing: true))
    }

    func addGateway(_ name: String, _ path: String?) async throws {
        guard let path else {
            notes.append("rind is not beside rind-bench: build it with 'swift build -c release --product rind'.")
            return
        }
        let port = try await ServerProcess.freePort()
        let state = directory.appendingPathComponent("\(name).db")
        let configuration = plan.scenario.configuration(
            port: port, backendPort: backend.port, state: state, connections: plan.connections)
        let server = try ServerProcess(
            name, executable: path,
            arguments: ["serve", "--config", try write(configuration, to: "\(name).ini")], port: port,
            directory: directory)
        contestants.append(Contestant(name, server, version: Tools.version(path, "version"), requests: requests))
    }

    func addNode() async throws {
        guard let node = Tools.find("node") else {
            notes.append("node is not installed: the gateway in Node.js is left out (apt-get install nodejs).")
            return
        }
        let port = try await ServerProcess.freePort()
        let server = try ServerProcess(
            "node", executable: node,
            arguments: [try write(SmallNode.script, to: "gateway.js"), "\(port)", "\(backend.port)"], port: port,
            directory: directory)
        notes.append(SmallNode.note(node))
        contestants.append(
            Contestant("node", server, version: Tools.version(node, "--version"), requests: requests))
    }

    private func write(_ text: String, to name: String) throws -> String {
        let file = directory.appendingPathComponent(name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
}
