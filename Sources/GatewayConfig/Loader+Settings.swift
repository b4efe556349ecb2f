// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// The checks that compare several keys of the unnamed sections.
extension Loader {
    /// The fields of RFC 9110 (7.6.1) and others that would break or falsify a call.
    static let neverForwarded: Set<String> = [
        "host", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "content-length", "accept-encoding", "expect", "proxy-authorization", "proxy-authenticate",
    ]

    /// Checks the unnamed sections against each other.
    mutating func checkSettings() {
        checkScope()
        checkPaths()
        checkCertificates()
        checkIdentity()
        checkCheckpoints()
        checkLineTypes()
        checkForwardedFields()
        checkSizes()
        checkConnections()
        checkVersions()
        checkVersionSource()
        checkPushTable()
        checkLedger()
    }

    /// Returns the position of a key, else the beginning of its section, else the first line.
    func anyPosition(_ section: String, _ key: String) -> Span {
        position(section, key) ?? document.section(section)?.span ?? Span(source: 0, line: 1, column: 1)
    }

    /// Returns the other side of a contradiction: the line that sets a key; nil if the key has its default.
    func second(_ section: String, _ key: String, text: String) -> Problems.Second? {
        position(section, key).map { .init(text, at: $0) }
    }

    private mutating func checkPaths() {
        let gateway = configuration.gateway
        guard !isBroken("gateway", "sync_path"), !isBroken("gateway", "pull_path"), !isBroken("gateway", "push_path")
        else { return }
        if gateway.syncPath == nil, gateway.pullPath.isEmpty || gateway.pushPath.isEmpty {
            problems.error(
                "there is no path for \(gateway.pullPath.isEmpty ? "pulls" : "pushes")",
                at: anyPosition("gateway", "sync_path"), hint: "set sync_path, or both pull_path and push_path")
        }
        for path in gateway.pullPath where gateway.pushPath.contains(path) {
            problems.error(
                "'\(path)' is in pull_path and push_path", at: anyPosition("gateway", "push_path"),
                hint: "one path for both is sync_path", second: second("gateway", "pull_path", text: "it is also here"))
        }
        if let admin = configuration.admin.listen, admin == gateway.listen, admin.port != 0 || admin.path != nil {
            problems.error(
                "[admin] and [gateway] listen at the same address", at: anyPosition("admin", "listen"),
                hint: "leave [admin] listen out: /livez and /readyz answer there anyway",
                second: second("gateway", "listen", text: "it is also here"))
        }
        if gateway.corsOrigins.contains("*"), gateway.corsOrigins.count > 1 {
            problems.error(
                "'*' stands for every origin, so it must stand alone", at: anyPosition("gateway", "cors_origins"))
        }
    }

    private mutating func checkCertificates() {
        let (gateway, backend) = (configuration.gateway, configuration.backend)
        for (section, prefix, certificate, key) in [
            ("backend", "client", backend.clientCertificate, backend.clientKey),
            ("gateway", "tls", gateway.tlsCertificate, gateway.tlsKey),
        ] where key != nil && certificate == nil && !isBroken(section, "\(prefix)_certificate") {
            problems.error(
                "\(prefix)_key is the key of no certificate", at: anyPosition(section, "\(prefix)_key"),
                hint: "set \(prefix)_certificate too")
        }
    }

    private mutating func checkCheckpoints() {
        let backend = configuration.backend
        guard !isBroken("backend", "checkpoints") else { return }
        let usesCheckpoints = backend.stream.placeholders.contains("checkpoints")
        switch backend.checkpoints {
        case .server:
            for (name, call) in [("ack", backend.ack), ("list", backend.list), ("forget", backend.forget)] {
                guard call == nil, !isBroken("backend", name) else { continue }
                problems.error(
                    "checkpoints that the server keeps need the call '\(name)'", at: anyPosition("backend", name),
                    hint: "set it, or 'checkpoints = request'",
                    second: second("backend", "checkpoints", text: "checkpoints are kept by the server here"))
            }
            if usesCheckpoints, !isBroken("backend", "stream") {
                problems.error(
                    "'{checkpoints}' is only known with 'checkpoints = request'", at: anyPosition("backend", "stream"),
                    second: second("backend", "checkpoints", text: "checkpoints are kept by the server here"))
            }
            checkPlaceholder("ack", "acks", in: backend.ack)
            checkPlaceholder("forget", "namespaces", in: backend.forget)
        case .request:
            guard !usesCheckpoints, !isBroken("backend", "stream") else { break }
            problems.error(
                "the stream request does not carry the checkpoints", at: anyPosition("backend", "stream"),
                hint: "put \"{checkpoints}\" into its body",
                second: second("backend", "checkpoints", text: "they are kept by nobody else"))
        }
        checkPlaceholder("stream", "types", in: backend.stream)
    }

    private mutating func checkPlaceholder(_ key: String, _ name: String, in call: Call?) {
        guard let call, !isBroken("backend", key), !call.placeholders.contains(name) else { return }
        problems.warning(
            "the call '\(key)' does not use {\(name)}", at: anyPosition("backend", key),
            hint: "put \"{\(name)}\" into its body")
    }

    private mutating func checkLineTypes() {
        let backend = configuration.backend
        var seen: [String: String] = [:]
        let types = [
            ("complete_type", [backend.completeType]), ("reset_type", [backend.resetType]),
            ("ack_types", backend.ackTypes), ("idmap_type", [backend.idMap.type].compactMap { $0 }),
        ]
        for (key, names) in types {
            for name in names {
                if let other = seen[name] {
                    problems.error(
                        "'\(name)' is \(other) and \(key)", at: anyPosition("backend", key),
                        second: second("backend", other, text: "it is also here"))
                } else {
                    seen[name] = key
                }
            }
        }
        var fields: [String: String] = [:]
        let all = [
            ("type_field", backend.typeField), ("ack_field", backend.ackField), ("data_field", backend.dataField),
        ]
        for (key, name) in all {
            if let other = fields[name] {
                problems.error(
                    "'\(name)' is \(other) and \(key)", at: anyPosition("backend", key),
                    second: second("backend", other, text: "it is also here"))
            }
            fields[name] = key
        }
    }

    private mutating func checkForwardedFields() {
        for name in configuration.backend.forwardHeaders where Self.neverForwarded.contains(name) {
            problems.warning(
                "'\(name)' is never forwarded", at: anyPosition("backend", "forward_headers"),
                hint: "remove it from the list")
        }
        configuration.backend.forwardHeaders.removeAll { Self.neverForwarded.contains($0) }
        let credentials = Set(["authorization", "cookie"] + configuration.wire.tokenHeader)
        for name in configuration.backend.harmlessHeaders {
            if credentials.contains(name) {
                problems.error(
                    "'\(name)' carries the credential: it is not harmless",
                    at: anyPosition("backend", "harmless_headers"),
                    second: configuration.wire.tokenHeader.contains(name)
                        ? second("wire", "token_header", text: "it is listed here") : nil)
            } else if !configuration.backend.forwardHeaders.contains(name) {
                problems.warning(
                    "'\(name)' is not forwarded", at: anyPosition("backend", "harmless_headers"),
                    hint: "list it in 'forward_headers' too, or remove it")
            }
        }
        for name in configuration.wire.tokenHeader where Self.neverForwarded.contains(name) {
            problems.error(
                "'\(name)' cannot carry a credential: it is never forwarded", at: anyPosition("wire", "token_header"))
        }
    }

    private mutating func checkSizes() {
        let keys = positions
        if let (message, hint) = MemoryShares.share(&configuration, isSet: { keys["\($0).\($1)"] != nil }) {
            problems.error(message, at: anyPosition("limits", "memory"), hint: hint)
        }
        let (spool, limits) = (configuration.spool, configuration.limits)
        checkOrder(
            Size(section: "spool", key: "memory", bytes: spool.memory),
            Size(section: "spool", key: "max", bytes: spool.max))
        checkOrder(
            Size(section: "spool", key: "max", bytes: spool.max),
            Size(section: "spool", key: "disk_total", bytes: spool.diskTotal))
        checkOrder(
            Size(section: "spool", key: "memory", bytes: spool.memory),
            Size(section: "spool", key: "memory_total", bytes: spool.memoryTotal))
        checkOrder(
            Size(section: "pull", key: "max_line", bytes: configuration.pull.maxLine),
            Size(section: "spool", key: "max", bytes: spool.max))
        checkOrder(
            Size(section: "limits", key: "body", bytes: limits.body),
            Size(section: "limits", key: "inflated_body", bytes: limits.inflatedBody))
        checkOrder(
            Size(section: "limits", key: "inflated_body", bytes: limits.inflatedBody),
            Size(section: "limits", key: "push_memory", bytes: limits.pushMemory))
    }

    private mutating func checkConnections() {
        if let fault = configuration.tunnelFault, !isBroken("limits", "tunnels") {
            problems.error(fault.message, at: anyPosition("limits", "tunnels"), hint: fault.hint)
        }
        let backend = configuration.backend
        guard backend.passThroughConnections > 0, backend.passThroughConnections >= backend.maxConnections,
            !isBroken("backend", "pass_through_connections"), !isBroken("backend", "max_connections")
        else { return }
        problems.error(
            "what passes through may take all connections to the backend, and syncs would have none",
            at: anyPosition("backend", "pass_through_connections"),
            hint: "fewer than max_connections, which is \(backend.maxConnections)",
            second: second("backend", "max_connections", text: "which is set here"))
    }

    private struct Size {
        var section: String
        var key: String
        var bytes: Int
        var text: String { "[\(section)] \(key) (\(ByteSize.render(bytes)))" }
    }

    private mutating func checkOrder(_ small: Size, _ large: Size) {
        guard small.bytes > large.bytes, !isBroken(small.section, small.key), !isBroken(large.section, large.key)
        else { return }
        let (first, other) = position(small.section, small.key) == nil ? (large, small) : (small, large)
        problems.error(
            "\(small.text) is larger than \(large.text)", at: anyPosition(first.section, first.key),
            second: second(other.section, other.key, text: "the other one is here"))
    }

    private mutating func checkPushTable() {
        guard let name = configuration.wire.pushTable, !isBroken("wire", "push_table") else { return }
        guard !drafts.contains(where: { $0.name.value == name }) else { return }
        problems.error(
            "unknown table '\(name)' in push_table", at: anyPosition("wire", "push_table"),
            hint: NearestName.hint(for: name, among: drafts.map(\.name.value)))
    }
}
