// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import NIOCore

/// The program `rind serve` in a process of its own, which can be killed.
struct GatewayProcess: Sendable {
    /// Where clients reach it; 0 where it never listened.
    let port: Int
    /// Where it writes its log.
    let errors: URL
    private let process: Process

    /// Why there is no process to test.
    enum Failure: Error {
        case noProgram(String)
        case ended(Int32, String)
    }

    /// The program that was built together with these tests.
    static var program: URL {
        let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        return tests.appending(path: "rind")
    }

    /// Starts it with its state, configuration and log in a directory, and waits until it listens.
    ///
    /// Overrides are keys with other values, such as `["gateway.shutdown_grace": "1s"]`; `softDescriptors` is the soft
    /// limit that it begins with; `diskSize` gives it a disk of that many bytes at `disk` in the directory; `variables`
    /// are added to its environment. If it ends instead, ``Failure/ended(_:_:)`` has its status and what it said.
    static func start(
        backend: String, directory: String, overrides: [String: String] = [:], configuration: String? = nil,
        softDescriptors: Int? = nil, diskSize: Int? = nil, variables: [String: String] = [:]
    ) async throws -> GatewayProcess {
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw Failure.noProgram(program.path)
        }
        let text = try configuration ?? StackConfiguration.quickstart()
        let file = URL(filePath: directory).appending(path: "rind.ini")
        try Data(text.utf8).write(to: file)
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("RIND_") }
        let fixed = [
            "backend.url": backend, "state.url": "sqlite:\(directory)/state.db", "gateway.listen": "127.0.0.1:0",
            "log.format": "json", "spool.dir": directory,
        ]
        for (key, value) in fixed.merging(overrides, uniquingKeysWith: { $1 }) {
            environment["RIND_" + key.uppercased().replacing(".", with: "_")] = value
        }
        let errors = URL(filePath: directory).appending(path: "log-\(UUID().uuidString)")
        try Data().write(to: errors)
        let process = Process()
        process.executableURL = program
        process.arguments = ["serve", "--config", file.path]
        if let softDescriptors {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = [
                "-c", "ulimit -S -n \(softDescriptors) && exec \"$0\" serve --config \"$1\"", program.path, file.path,
            ]
        }
        if let diskSize {
            let disk = "\(directory)/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            process.executableURL = URL(filePath: "/usr/bin/unshare")
            process.arguments = [
                "-m", "/bin/sh", "-c",
                "mount -t tmpfs -o size=\(diskSize) none \"$2\" && exec \"$0\" serve --config \"$1\"",
                program.path, file.path, disk,
            ]
        }
        // The backend is reached without the proxy of the environment, in every test.
        for name in ["http_proxy", "https_proxy", "ALL_PROXY"] { environment[name] = "http://127.0.0.1:1" }
        process.environment = environment.merging(variables) { $1 }
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while true {
            if let port = try port(of: "clients", in: errors) {
                return GatewayProcess(port: port, errors: errors, process: process)
            }
            guard process.isRunning else {
                let said = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
                throw Failure.ended(process.terminationStatus, said)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Starts it, passes it to the body, and kills it where it still runs then.
    static func with<Value>(
        backend: String, directory: String, overrides: [String: String] = [:], configuration: String? = nil,
        softDescriptors: Int? = nil, diskSize: Int? = nil, variables: [String: String] = [:],
        _ body: (GatewayProcess) async throws -> Value
    ) async throws -> Value {
        let process = try await start(
            backend: backend, directory: directory, overrides: overrides, configuration: configuration,
            softDescriptors: softDescriptors, diskSize: diskSize, variables: variables)
        do {
            let value = try await body(process)
            try await process.kill()
            return value
        } catch {
            try await process.kill()
            throw error
        }
    }

    /// The system's number for it.
    var processIdentifier: Int32 { process.processIdentifier }

    /// Whether it has not ended.
    var isRunning: Bool { process.isRunning }

    /// Where files of its own disk are, for others.
    func onDisk(_ name: String, in directory: String) -> String {
        "/proc/\(process.processIdentifier)/root\(directory)/disk/\(name)"
    }

    /// Whether processes can have disks of their own here: only root can make them.
    static let hasDisks: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = ["-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// What it has written to standard error.
    var log: String { (try? String(decoding: Data(contentsOf: errors), as: UTF8.self)) ?? "" }

    /// Speaks to it.
    var http: RawHTTPClient {
        var client = RawHTTPClient(port: port)
        // While it sends hundreds of megabytes, nothing comes back.
        client.patience = .minutes(3)
        return client
    }

    /// Speaks to the operator's listener, as soon as there is one; for one that is configured.
    func admin() async throws -> RawHTTPClient {
        while true {
            if let port = try Self.port(of: "admin", in: errors) { return RawHTTPClient(port: port) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The first line of its log with all of these texts, as soon as there is one.
    func line(with texts: String...) async throws -> String {
        while true {
            let line = log.split(separator: "\n").first { line in texts.allSatisfy { line.contains($0) } }
            if let line { return String(line) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Ends it at once, as a crash does.
    func kill() async throws {
        send(SIGKILL)
        try await eventually { !process.isRunning }
    }

    /// Sends it a signal.
    func send(_ signal: Int32) {
        if process.isRunning { _ = Foundation.kill(process.processIdentifier, signal) }
    }

    /// Waits until it has ended by itself, and gives its status.
    func end() async throws -> Int32 {
        try await eventually { !process.isRunning }
        return process.terminationStatus
    }

    /// The most memory that it ever had, in bytes; nil where the system does not tell.
    var peakMemory: Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return Int(line.filter(\.isNumber)).map { $0 * 1_024 }
    }

    private static func port(of listener: String, in errors: URL) throws -> Int? {
        let text = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        let line = text.split(separator: "\n").first {
            $0.contains(#""message":"listening""#) && $0.contains(#""listener":"\#(listener)""#)
        }
        guard let line, let place = line.firstRange(of: #""port":"#) else { return nil }
        return Int(line[place.upperBound...].prefix(while: \.isNumber))
    }
}
