// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A host and a port, or a Unix socket, to listen on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, IPv6 without brackets; empty for a Unix socket.
    package var host: String
    /// The port, 0 … 65535; 0 lets the system choose.
    package var port: Int
    /// The path of a Unix socket; nil for a host.
    package var path: String?

    /// Creates an address.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Creates the address of a Unix socket.
    package init(path: String) {
        self.init(host: "", port: 0)
        self.path = path
    }

    /// `host:port`, IPv6 in brackets, or `unix:` and a path.
    package var description: String {
        if let path { return "unix:\(path)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The URL under which all paths of the backend lie, without credentials, query or fragment.
package struct BaseURL: Hashable, Sendable, CustomStringConvertible {
    /// True if the scheme is https.
    package var isTLS: Bool
    /// A name or an address in lower case; IPv6 without brackets.
    package var host: String
    /// The port, if one is written.
    package var port: Int?
    /// Empty, or a path that begins with a slash and ends without one.
    package var path: String

    /// Creates a URL of these parts.
    package init(isTLS: Bool, host: String, port: Int?, path: String) {
        self.isTLS = isTLS
        self.host = host
        self.port = port
        self.path = path
    }

    /// The URL without a final slash, so that a target can follow.
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isTLS ? "https" : "http")://\(name)\(port.map { ":\($0)" } ?? "")\(path)"
    }
}
