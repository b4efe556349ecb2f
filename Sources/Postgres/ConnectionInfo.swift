// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CPQ

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A connection string as libpq understands it.
package struct ConnectionInfo: Hashable, Sendable {
    private let text: String
    private let shown: [String: String]

    /// Reads a connection string.
    ///
    /// - Throws: ``PostgresError/invalidSettings``, without libpq's message, which quotes the string and so a password.
    package init(_ text: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        defer { PQfreemem(message) }
        guard !text.utf8.contains(0), let options = PQconninfoParse(text, &message) else { throw .invalidSettings }
        defer { PQconninfoFree(options) }
        var shown: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            let name = String(cString: keyword)
            if let value = option.pointee.val, ["host", "port", "dbname", "user"].contains(name) {
                shown[name] = PostgresError.clean(String(cString: value))
            }
            option += 1
        }
        self.text = text
        self.shown = shown
    }

    /// Opens a connection in this thread, which may take as long as names are resolved and hosts are tried.
    ///
    /// Several hosts and `target_session_attrs` work as in every program with libpq, and so does `connect_timeout`,
    /// which holds for each address: only the blocking function goes on to the next host when it has passed. The price
    /// is that libpq writes a notice that comes meanwhile to the standard error.
    func connect(timeout: Duration) -> OpaquePointer? {
        // The later ones win, and what the string does not say comes from the first ones.
        let seconds = "\(max(2, timeout.components.seconds))"
        let options = [
            ("fallback_application_name", "rind"), ("connect_timeout", seconds), ("dbname", text),
            ("client_encoding", "UTF8"),
        ]
        let words = (options.map(\.0) + options.map(\.1)).map { strdup($0) }
        defer { for word in words { free(word) } }
        let keywords = words.prefix(options.count).map { UnsafePointer($0) } + [nil]
        let values = words.suffix(options.count).map { UnsafePointer($0) } + [nil]
        return PQconnectdbParams(keywords, values, 1)
    }
}

extension ConnectionInfo: CustomStringConvertible {
    /// The string's host, port, database and user, as far as it has them; never a password.
    package var description: String {
        ["host", "port", "dbname", "user"].compactMap { name in shown[name].map { "\(name)=\($0)" } }
            .joined(separator: " ")
    }
}
