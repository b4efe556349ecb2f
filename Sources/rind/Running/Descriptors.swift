// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import GatewayServer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How many file descriptors a configuration needs, and how many the system lets the process have.
struct Descriptors {
    /// The state's connections, the loops' own, the log, and what a library opens for a moment.
    private static let others = 192
    /// The answer, the sorted runs, the ledger's layer, and one to spare.
    private static let perPull = 4
    /// The fewest connections that a gateway is started for.
    private static let fewestConnections = 16

    /// How many are needed with all connections, pulls and calls at once.
    let needed: Int
    /// How many there may be before the limit is raised.
    private(set) var soft: Int
    /// How far the limit can be raised.
    private(set) var hard: Int
    private let connections: Int
    /// More is never of use.
    private static let most = 1 << 20

    /// What a configuration needs under these limits.
    init(_ configuration: Configuration, soft: Int, hard: Int) {
        connections = configuration.limits.connections
        let spare = ServerLimits.spareConnections
        let admin = configuration.admin.listen == nil ? 0 : ServerLimits.adminConnections + spare
        needed =
            connections + spare + admin + configuration.backend.maxConnections
            + configuration.limits.pulls * Self.perPull + Self.others
        self.soft = soft
        self.hard = max(soft, hard)
    }

    /// What a configuration needs of this process.
    init(_ configuration: Configuration) {
        var limit = rlimit()
        guard getrlimit(Self.resource, &limit) == 0 else {
            self.init(configuration, soft: .max, hard: .max)
            return
        }
        self.init(configuration, soft: Int(clamping: limit.rlim_cur), hard: Int(clamping: limit.rlim_max))
    }

    /// How many there can be, up to what is needed.
    var allowed: Int { max(soft, min(hard, needed)) }

    /// How many connections of clients fit.
    var fittingConnections: Int {
        min(connections, max(Self.fewestConnections, connections - max(0, needed - allowed)))
    }

    /// Raises the limit of this process as far as it can be: answers that are sent slowly, or kept, have files of their
    /// own.
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
