// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix

/// Runs a server that is measured, as a process of its own on a port of 127.0.0.1.
///
/// Belongs to one task. The server's output goes to a file, whose end is shown if the server dies.
final class ServerProcess {
    /// The reasons why a server cannot be measured.
    enum Failure: Error, CustomStringConvertible {
        case ended(name: String, output: String)
        case silent(name: String, output: String)

        var description: String {
            switch self {
            case .ended(let name, let output): "\(name) ended by itself; its last words:\n\(output)"
            case .silent(let name, let output): "\(name) does not listen; its last words:\n\(output)"
            }
        }
    }

    /// The server's name in messages.
    let name: String
    /// The port on which the server listens.
    let port: Int
    private let process = Process()
    private let output: URL

    /// Starts the server; `directory` is its working directory, and its output is written there.
    init(_ name: String, executable: String, arguments: [String], port: Int, directory: URL) throws {
        self.name = name
        self.port = port
        output = directory.appendingPathComponent("\(name).log")
        try Data().write(to: output)
        let log = try FileHandle(forWritingTo: output)
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try Self.withSignalsOpen { try process.run() }
        Interrupts.began(process.processIdentifier)
    }

    /// Unblocks all signals while the body runs: a new process inherits the blocked ones, and threads of the runtime
    /// block most signals.
    private static func withSignalsOpen(_ body: () throws -> Void) rethrows {
        var open = sigset_t()
        var before = sigset_t()
        sigemptyset(&open)
        pthread_sigmask(SIG_SETMASK, &open, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// Returns a port that is free now.
    static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return port
    }

    /// Waits until the server accepts connections.
    func waitUntilReady() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            guard process.isRunning else { throw Failure.ended(name: name, output: lastWords) }
            let attempt = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port)
            if let channel = try? await attempt.get() { return try await channel.close() }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Failure.silent(name: name, output: lastWords)
    }

    /// Ends the server and waits until it is gone; SIGKILL leaves it no time to finish anything.
    func stop(with signal: Int32 = SIGTERM) async {
        guard process.isRunning else { return }
        kill(process.processIdentifier, signal)
        let deadline = ContinuousClock.now + .seconds(10)
        while process.isRunning {
            if ContinuousClock.now > deadline { kill(process.processIdentifier, SIGKILL) }
            // A cancelled measurement still waits: otherwise servers would be left behind.
            try? await Task.sleep(for: .milliseconds(10))
        }
        Interrupts.ended(process.processIdentifier)
    }

    /// The processor time of all threads so far, in seconds; nil if the system does not report it.
    var processorSeconds: Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // After the command's name: state, parent, …; the 12th and 13th are user and system time (proc(5)).
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / Double(max(sysconf(CInt(_SC_CLK_TCK)), 1))
    }

    /// The number of times so far that the server's threads gave up a processor or lost it; nil if the system does not
    /// report it.
    var contextSwitches: Int? {
        let tasks = "/proc/\(process.processIdentifier)/task"
        guard let threads = try? FileManager.default.contentsOfDirectory(atPath: tasks) else { return nil }
        return threads.reduce(0) { sum, thread in
            let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)) ?? ""
            return sum
                + text.split(separator: "\n").filter { $0.contains("voluntary_ctxt_switches:") }
                .compactMap { $0.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } }.reduce(0, +)
        }
    }

    /// The most memory that was ever resident, in bytes; nil if the system does not report it.
    var peakResidentBytes: Int? { memory("VmHWM:") }

    /// The memory that is resident now, in bytes; nil if the system does not report it.
    var residentBytes: Int? { memory("VmRSS:") }

    private func memory(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kibibytes * 1024
    }

    /// The bytes that the server has read and written by system calls so far, of whatever kind; nil if the system does
    /// not report them.
    var transferredBytes: (read: Int, written: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/io", encoding: .utf8) else {
            return nil
        }
        func figure(_ name: String) -> Int? {
            text.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) }
        }
        guard let read = figure("rchar: "), let written = figure("wchar: ") else { return nil }
        return (read, written)
    }

    /// The end of the server's output.
    var lastWords: String {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(10).joined(separator: "\n")
    }
}
