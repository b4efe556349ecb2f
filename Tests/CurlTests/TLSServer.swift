// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

/// `openssl s_server` with a certificate of its own.
///
/// Not Foundation's `Process`: it watches descriptors with `select`, which writes beyond its set of 1024 when many
/// tests have their sockets open.
struct TLSServer: Sendable {
    static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let port: Int
    let certificate: URL
    let key: URL
    private let directory: URL
    private let process: pid_t

    /// Starts it, on a thread of its own: running a command blocks.
    ///
    /// With `asksClients` it takes only clients with its own certificate.
    static func start(name: String, asksClients: Bool = false) async throws -> TLSServer {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try TLSServer(name: name, asksClients: asksClients) }) }.start()
        }
    }

    private init(name: String, asksClients: Bool) throws {
        let openssl = try #require(Self.openssl)
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("rind-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appendingPathComponent("cert.pem")
        key = directory.appendingPathComponent("key.pem")
        let request = try Self.spawn(
            [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
                + ["-addext", "subjectAltName=\(name)", "-keyout", key.path, "-out", certificate.path])
        _ = Self.firstLine(with: "-----", from: request.output)
        close(request.output)
        var status: CInt = 0
        waitpid(request.process, &status, 0)
        let server = try Self.spawn(
            [openssl, "s_server", "-accept", "0", "-www", "-cert", certificate.path, "-key", key.path]
                + (asksClients ? ["-Verify", "1", "-verify_return_error", "-CAfile", certificate.path] : []))
        process = server.process
        // "ACCEPT 0.0.0.0:38471" or "ACCEPT [::]:38471"; the pipe stays open, or the server would end at its next word.
        let line = Self.firstLine(with: "ACCEPT", from: server.output)
        port = try #require(line?.split(separator: ":").last.flatMap { Int($0) })
    }

    func stop() {
        kill(process, SIGKILL)
        var status: CInt = 0
        waitpid(process, &status, 0)
        try? FileManager.default.removeItem(at: directory)
    }

    private static func spawn(_ arguments: [String]) throws -> (process: pid_t, output: CInt) {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let result = posix_spawn(&process, arguments[0], &actions, nil, &pointers, environ)
        close(ends[1])
        try #require(result == 0)
        return (process, ends[0])
    }

    /// Reads until a whole line holds the word; nil where the output ends before.
    private static func firstLine(with word: String, from descriptor: CInt) -> String? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.contains(word) }) { return String(line) }
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
