// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOConcurrencyHelpers

/// How a command has ended.
struct Finished: Sendable {
    /// The exit status; 128 and the signal's number where a signal ended it.
    var status: Int32
    var out: String
    var error: String
}

/// A `rind` that runs as a process of its own.
///
/// Not Foundation's `Process`, whose pipes other children inherit when several start at the same time.
final class RunningCommand: Sendable {
    /// What it has written so far.
    private struct Written {
        var out: [UInt8] = []
        var error: [UInt8] = []
        var status: Int32?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The command beside the tests.
    static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "rind").path(percentEncoded: false)

    /// One command starts at a time, so that none inherits another's pipes.
    private static let starting = NIOLock()

    let processID: pid_t
    private let written = NIOLockedValueBox(Written())

    /// Starts the command, or another program; variables are added to the environment of the tests.
    init(
        _ arguments: [String], program: String = RunningCommand.executable, environment: [String: String] = [:],
        directory: URL? = nil, input: String? = nil
    ) throws {
        var variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let directory, arguments.contains(where: { $0.hasPrefix(Place.root.path(percentEncoded: false)) }) {
            // A configuration of the tree would have its state beside it.
            let state = directory.appending(path: "rind-state.db").path(percentEncoded: false)
            variables["RIND_STATE_URL"] = environment["RIND_STATE_URL"] ?? "sqlite:\(state)"
        }
        let pipes: [(reading: CInt, writing: CInt)]
        (processID, pipes) = try Self.starting.withLock {
            let pipes = try (0..<3).map { _ in try Self.pipe() }
            let processID = try Self.spawn(
                [program] + arguments, variables.map { "\($0)=\($1)" }, directory?.path(percentEncoded: false),
                pipes)
            return (processID, pipes)
        }
        for (descriptor, pipe) in pipes.enumerated() { close(descriptor == 0 ? pipe.reading : pipe.writing) }
        let written = written
        let pid = processID
        Thread {
            // Small enough for the pipe's buffer, so it cannot block.
            _ = Array((input ?? "").utf8).withUnsafeBytes { write(pipes[0].writing, $0.baseAddress, $0.count) }
            close(pipes[0].writing)
            Self.collect(pid, pipes[1].reading, pipes[2].reading, written)
        }.start()
    }

    /// Runs the command, or another program, to its end, as soon as there is a permit for it.
    static func run(
        _ arguments: [String], program: String = executable, environment: [String: String] = [:],
        directory: URL? = nil, input: String? = nil
    ) async throws -> Finished {
        try await CommandPermits.with {
            try await RunningCommand(
                arguments, program: program, environment: environment, directory: directory, input: input
            ).finished()
        }
    }

    /// The same with the arguments one by one.
    static func run(
        _ arguments: String..., environment: [String: String] = [:], directory: URL? = nil, input: String? = nil
    ) async throws -> Finished {
        try await run(arguments, environment: environment, directory: directory, input: input)
    }

    /// Waits for the end.
    func finished() async -> Finished {
        await wait { $0.status != nil }
        return written.withLockedValue {
            Finished(
                status: $0.status ?? -1, out: String(decoding: $0.out, as: UTF8.self),
                error: String(decoding: $0.error, as: UTF8.self))
        }
    }

    /// What it has written to standard error so far.
    var errorText: String { written.withLockedValue { String(decoding: $0.error, as: UTF8.self) } }

    /// Waits until standard error holds a match, or the process has ended.
    func errorMatch(_ pattern: String) async -> String? {
        await match(pattern, in: \.error)
    }

    /// Waits until standard output holds a match, or the process has ended.
    func outMatch(_ pattern: String) async -> String? { await match(pattern, in: \.out) }

    private func match(_ pattern: String, in stream: any KeyPath<Written, [UInt8]> & Sendable) async -> String? {
        @Sendable func match(_ bytes: [UInt8]) -> String? {
            let text = String(decoding: bytes, as: UTF8.self)
            return text.range(of: pattern, options: .regularExpression).map { String(text[$0]) }
        }
        await wait { $0.status != nil || match($0[keyPath: stream]) != nil }
        return match(written.withLockedValue { $0[keyPath: stream] })
    }

    /// Sends a signal.
    func signal(_ number: Int32) { kill(processID, number) }

    private func wait(until isDone: @Sendable (Written) -> Bool) async {
        while !written.withLockedValue({ isDone($0) }) {
            await withCheckedContinuation { continuation in
                let isNow = written.withLockedValue { written in
                    if isDone(written) { return true }
                    written.waiters.append(continuation)
                    return false
                }
                if isNow { continuation.resume() }
            }
        }
    }

    private static func pipe() throws -> (reading: CInt, writing: CInt) {
        var ends: [CInt] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw SystemFailure(errno) }
        // What else the tests start must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ arguments: [String], _ variables: [String], _ directory: String?, _ pipes: [(reading: CInt, writing: CInt)]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipes[0].reading, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1].writing, 1)
        posix_spawn_file_actions_adddup2(&actions, pipes[2].writing, 2)
        // The threads of the tests block signals and ignore some; the command shall not.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = directory.map { ["/usr/bin/env", "--chdir=\($0)"] + arguments } ?? arguments
        let argv = words.map { strdup($0) } + [nil]
        let envp = variables.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var processID = pid_t()
        let code = posix_spawn(&processID, words[0], &actions, &attributes, argv, envp)
        guard code == 0 else { throw SystemFailure(code) }
        return processID
    }

    /// Reads both pipes to their ends, then waits for the process; on a thread of its own.
    private static func collect(
        _ processID: pid_t, _ out: CInt, _ error: CInt, _ written: NIOLockedValueBox<Written>
    ) {
        var open = [
            pollfd(fd: out, events: Int16(POLLIN), revents: 0), pollfd(fd: error, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while open.contains(where: { $0.fd >= 0 }) {
            guard poll(&open, 2, -1) >= 0 || errno == EINTR else { break }
            for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
                let count = read(open[index].fd, &buffer, buffer.count)
                if count > 0 {
                    change(written) {
                        index == 0
                            ? $0.out.append(contentsOf: buffer[..<count])
                            : $0.error.append(contentsOf: buffer[..<count])
                    }
                } else if count == 0 || errno != EINTR {
                    close(open[index].fd)
                    open[index].fd = -1
                }
            }
        }
        var status: CInt = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        change(written) { $0.status = signal == 0 ? (status >> 8) & 0xFF : 128 + signal }
    }

    private static func change(_ written: NIOLockedValueBox<Written>, _ body: (inout Written) -> Void) {
        let waiters = written.withLockedValue { written in
            body(&written)
            defer { written.waiters = [] }
            return written.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private struct SystemFailure: Error {
        let code: CInt
        init(_ code: CInt) { self.code = code }
    }
}
