// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOConcurrencyHelpers

/// A real PostgreSQL with a cluster of its own: in a temporary directory, on a free port, without waits for the disk.
///
/// It is there for the test process alone: a shell keeps watch, and removes server and directory as soon as its input
/// ends, which also happens when the process is killed. Local connections and those of most users need no password;
/// `secret` has one, and `encrypted` must use TLS.
package final class PostgresServer: Sendable {
    /// The directory with server, password file and certificate; also that of the socket.
    package let directory: String
    /// The port over TCP.
    package let port: Int
    private let programs: String

    /// Returns the server of all tests that do it no harm.
    package static func shared() async throws -> PostgresServer { try await sharedStart.server() }

    /// Returns the server of the tests that stop and kill it, one after the other.
    package static func stoppable() async throws -> PostgresServer { try await stoppableStart.server() }

    /// Starts a server for one test, which may do with it what it likes; it is there until the test process ends.
    ///
    /// A durable one waits for the disk at every commit, as one in production does.
    package static func fresh(isDurable: Bool = false) async throws -> PostgresServer {
        try await Command.onThread { try PostgresServer(isDurable: isDurable) }
    }

    private static let sharedStart = Start()
    private static let stoppableStart = Start()

    /// A server that the first one who wants it starts, while the others wait.
    private final class Start: Sendable {
        private let started = NIOLockedValueBox<Result<PostgresServer, any Error>?>(nil)

        func server() async throws -> PostgresServer {
            // On a thread of its own, since the lock is held until the server runs.
            try await Command.onThread { [started] in
                try started.withLockedValue { started in
                    let result = started ?? Result { try PostgresServer() }
                    started = result
                    return try result.get()
                }
            }
        }
    }

    /// True if there is a PostgreSQL to run; build machines must have one.
    package static var isInstalled: Bool { installation != nil || ProcessInfo.processInfo.environment["CI"] == "true" }

    /// The directory of its programs, of the newest version.
    private static let installation: String? = {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
        return versions.sorted().reversed().map { "\(root)/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// Makes a cluster and starts its server.
    private init(isDurable: Bool = false) throws {
        guard let programs = Self.installation else { throw Command.Refused(what: "PostgreSQL is not installed") }
        self.programs = programs
        directory = try Self.makeDirectory()
        port = try Self.freePort()
        let watch = try Command.spawn(
            Self.unprivileged
                + ["sh", "-c", Self.script, "watch", programs, directory, "\(port)", isDurable ? "on" : "off"])
        // It says "ready", or why not; its input stays open for as long as this process lives.
        var text = ""
        var byte: UInt8 = 0
        while !text.hasSuffix("ready\n"), read(watch.output, &byte, 1) == 1 {
            text.unicodeScalars.append(.init(byte))
        }
        guard text.hasSuffix("ready\n") else { throw Command.Refused(what: "PostgreSQL did not start: \(text)") }
    }

    /// Returns a connection string for this server over TCP, with more words.
    package func conninfo(_ more: String = "", user: String = "postgres", port: Int? = nil) -> String {
        "host=127.0.0.1 port=\(port ?? self.port) user=\(user) dbname=postgres sslmode=disable gssencmode=disable \(more)"
    }

    /// Returns a URL for this server over TCP, as an operator configures it.
    package func url(port: Int? = nil) -> String {
        "postgresql://postgres@127.0.0.1:\(port ?? self.port)/postgres?sslmode=disable&gssencmode=disable"
    }

    /// Stops the server, in one of the ways of `pg_ctl`.
    package func stop(_ mode: String) async throws { try await control("stop", "-m", mode) }

    /// Kills all processes of the server, as when the machine fails.
    package func killAll() async throws {
        let file = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
        guard let process = file.split(separator: "\n").first.map(String.init) else {
            throw Command.Refused(what: "the server has no process")
        }
        // The first process is stopped before its children are killed, or it would start others.
        _ = try await Command.run([
            "sh", "-c", "kill -STOP $1; pkill -KILL -P $1; kill -KILL $1", "kill", process,
        ])
    }

    /// Starts the server again; after ``killAll()`` once the system has removed its processes.
    package func start() async throws {
        // As long as one is left, pg_ctl refuses.
        while (try? await control("start", "-l", "\(directory)/log")) == nil { try Task.checkCancellation() }
    }

    /// Runs a script of SQL with psql, and returns the rows without headings.
    package func query(_ script: String) async throws -> String {
        try await Command.run([
            "\(programs)/psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres",
            "-d", "postgres", "-c", script,
        ])
    }

    /// The processor time of all of its processes so far, ended ones too, in seconds; nil if the system does not report
    /// it.
    package var processorSeconds: Double? {
        guard let file = try? String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8),
            let parent = file.split(separator: "\n").first.flatMap({ Int($0) }), let main = Self.times(of: parent)
        else { return nil }
        let processes = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int($0) }
        let ticks = processes.compactMap(Self.times).filter { $0.parent == parent }.map(\.own).reduce(0, +)
        return (ticks + main.own + main.ended) / Double(max(sysconf(CInt(_SC_CLK_TCK)), 1))
    }

    /// Returns the processor time of a process and of its children that have ended, in ticks of the clock (proc(5)).
    private static func times(of process: Int) -> (parent: Int, own: Double, ended: Double)? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // After the command's name: state, parent, …; user and system time are the 12th and 13th, the children's follow.
        let fields = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        guard fields.count > 14 else { return nil }
        return (Int(fields[1]), fields[11] + fields[12], fields[13] + fields[14])
    }

    private func control(_ arguments: String...) async throws {
        _ = try await Command.run(
            Self.unprivileged + ["\(programs)/pg_ctl", "-s", "-w", "-D", "\(directory)/data"] + arguments)
    }

    /// PostgreSQL refuses to run as root.
    package static var unprivileged: [String] {
        guard getuid() == 0 else { return [] }
        return ["setpriv", "--reuid", user, "--regid", user == "nobody" ? "nogroup" : user, "--clear-groups"]
    }

    private static var user: String { getpwnam("postgres") == nil ? "nobody" : "postgres" }

    private static func makeDirectory() throws -> String {
        var name = Array("/tmp/rind-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw Command.Refused(what: "mkdtemp") }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if getuid() == 0, let entry = getpwnam(user) { chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) }
        return path
    }

    /// Returns a port that no server uses at the moment, for a program that cannot take any free one.
    ///
    /// It is below those that the system gives to whoever asks for any: one of these could be given to another test
    /// before the program listens.
    package static func freePort() throws -> Int {
        for _ in 0..<1_000 {
            let port = UInt16.random(in: 20_000..<32_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            address.sin_port = port.bigEndian
            let isFree = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return Int(port) }
        }
        throw Command.Refused(what: "bind")
    }

    private static let script = """
        programs=$1 directory=$2 port=$3 fsync=$4
        cd "$directory" || exit 1
        finish() {
            "$programs/pg_ctl" -s -D data stop -m immediate
            cd / && rm -rf "$directory"
        }
        trap finish EXIT
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \\
            -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt 2>/dev/null || exit 1
        chmod 644 server.crt
        chmod 600 server.key
        "$programs/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null || exit 1
        cat >>data/postgresql.conf <<END
        port = $port
        listen_addresses = '127.0.0.1'
        unix_socket_directories = '$directory'
        fsync = $fsync
        max_connections = 300
        deadlock_timeout = 50ms
        ssl = on
        ssl_cert_file = '$directory/server.crt'
        ssl_key_file = '$directory/server.key'
        END
        cat >data/pg_hba.conf <<END
        local all all trust
        hostnossl all encrypted 127.0.0.1/32 reject
        host all secret 127.0.0.1/32 scram-sha-256
        host all all 127.0.0.1/32 trust
        END
        "$programs/pg_ctl" -s -w -D data -l log start || { cat log; exit 1; }
        "$programs/psql" -q -h "$directory" -p "$port" -U postgres -d postgres <<END || exit 1
        CREATE ROLE encrypted LOGIN;
        CREATE ROLE secret LOGIN PASSWORD 'only for tests';
        CREATE ROLE single LOGIN CONNECTION LIMIT 1;
        CREATE ROLE reader LOGIN SUPERUSER;
        ALTER ROLE reader SET default_transaction_read_only = on;
        END
        echo ready
        cat >/dev/null
        """
}
