// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Glibc

/// Programs that the tests start.
///
/// Not Foundation's `Process`: it watches descriptors with `select`, which writes beyond its set of 1024 when many
/// tests have their sockets open.
package enum Command {
    /// A program that ended with another status than 0.
    package struct Failure: Error {
        let program: String
        let output: String
    }

    /// A step that the system has refused.
    struct Refused: Error {
        let what: String
    }

    private static let lock = NSLock()

    /// Runs a program to its end, and returns what it wrote.
    @discardableResult
    package static func run(_ arguments: [String]) async throws -> String {
        try await onThread {
            let child = try spawn(arguments)
            close(child.input)
            let output = readAll(child.output)
            close(child.output)
            var status: CInt = 0
            while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
            guard status == 0 else { throw Failure(program: arguments[0], output: output) }
            return output
        }
    }

    /// Closes all inherited descriptors but the first three, and goes on as the program.
    ///
    /// A server outlives many tests: with the sockets of one, it would keep their connections open.
    private static let closing = """
        for fd in /proc/self/fd/*; do
            fd=${fd##*/}
            [ "$fd" -gt 2 ] && eval "exec $fd>&-"
        done
        exec "$@"
        """

    /// Starts a program; it gets the end of its input when the test process ends, whatever ends it.
    package static func spawn(_ arguments: [String]) throws -> (process: pid_t, input: CInt, output: CInt) {
        // One at a time: a child that starts between two lines would have the pipes of another one.
        lock.lock()
        defer { lock.unlock() }
        var (input, output): ([CInt], [CInt]) = ([0, 0], [0, 0])
        guard pipe(&input) == 0, pipe(&output) == 0 else { throw Refused(what: "pipe") }
        // Closed in other children, or these would keep the pipe open.
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_adddup2(&actions, output[1], 2)
        let arguments = ["bash", "-c", closing, "bash"] + arguments
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, arguments[0], &actions, nil, &pointers, environ)
        close(input[0])
        close(output[1])
        guard result == 0 else { throw Refused(what: "\(arguments[0]) cannot be started") }
        return (process, input[1], output[0])
    }

    /// Runs what blocks on a thread of its own.
    package static func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try body() }) }.start()
        }
    }

    private static func readAll(_ descriptor: CInt) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
