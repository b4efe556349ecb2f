// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import GatewayServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The number of file descriptors that a configuration needs, and the number that the system allows the process.
struct Descriptors {
    /// The state's connections, the loops' own, the log, and what a library opens for a moment.
    private static let others = 192
    /// The socket, and the file of the answer that a slow client takes.
    private static let perConnection = 2
    /// The answer, the sorted runs, the ledger's layer, and one to spare.
    private static let perPull = 4
    /// The fewest connections that a gateway is started for.
    private static let fewestConnections = 16

    /// The number that is needed with all connections, pulls and calls at once.
    let needed: Int
    /// The soft limit before it is raised.
    private(set) var soft: Int
    /// The highest value to which the limit can be raised.
    private(set) var hard: Int
    private let connections: Int
    /// More is never of use.
    private static let most = 1 << 20

    /// Creates the need of a configuration under these limits.
    init(_ configuration: Configuration, soft: Int, hard: Int) {
        connections = configuration.limits.connections
        let spare = ServerLimits.spareConnections
        let admin = configuration.admin.listen == nil ? 0 : ServerLimits.adminConnections + spare
        // An upload's socket is kept a second time, for an answer before the body's end.
        let uploads = configuration.uploadReactorSettings.maximumConnections
        needed =
            connections * Self.perConnection + spare + admin + configuration.backend.maxConnections + uploads
            + configuration.limits.pulls * Self.perPull + Self.others
        self.soft = soft
        self.hard = max(soft, hard)
    }

    /// Creates the need of a configuration under the limits of this process.
    init(_ configuration: Configuration) {
        var limit = rlimit()
        guard getrlimit(Self.resource, &limit) == 0 else {
            self.init(configuration, soft: .max, hard: .max)
            return
        }
        self.init(configuration, soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
    }

    /// The number that is available, up to the need.
    var allowed: Int { max(soft, min(hard, needed)) }

    /// The number of clients' connections that fit.
    var fittingConnections: Int {
        let missing = max(0, needed - allowed)
        let fitting = connections - (missing + Self.perConnection - 1) / Self.perConnection
        return min(connections, max(Self.fewestConnections, fitting))
    }

    /// Raises the limit of this process as far as it can be: answers that are kept have files of their own.
    mutating func raise() {
        var limit = rlimit()
        let most = max(allowed, min(hard, Self.most))
        if most > soft, getrlimit(Self.resource, &limit) == 0 {
            limit.rlim_cur = rlim_t(most)
            if setrlimit(Self.resource, &limit) == 0 { soft = most }
        }
        hard = soft
    }

    /// A sentence for whoever checks the configuration.
    var summary: String {
        guard fittingConnections < connections else {
            let isRaised = soft < needed
            return isRaised ? "\(needed) needed, the start raises the limit of \(soft)" : "\(needed) needed and allowed"
        }
        return "\(needed) needed, \(allowed) allowed: only \(fittingConnections) connections of clients"
    }

    #if canImport(Glibc)
    private static var resource: Int32 { Int32(RLIMIT_NOFILE.rawValue) }
    #else
    private static var resource: Int32 { RLIMIT_NOFILE }
    #endif
}
