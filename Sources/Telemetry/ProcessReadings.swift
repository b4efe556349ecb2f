// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads the figures of this process.
package enum ProcessReadings {
    /// The present figures; none where the system has no `/proc`.
    package static var all: [MetricReading] {
        #if os(Linux)
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return [] }
        // The name of the process, in parentheses, may have spaces in it; the field after it is the third.
        let fields = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        guard fields.count > 21 else { return [] }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let page = Double(sysconf(Int32(_SC_PAGESIZE)))
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
        return [
            MetricReading(.cpu, (fields[11] + fields[12]) / ticks), MetricReading(.threads, fields[17]),
            MetricReading(.virtual, fields[20]), MetricReading(.resident, fields[21] * page),
            MetricReading(.descriptors, Double(open)), MetricReading(.descriptorLimit, Double(limit.rlim_cur)),
            MetricReading(.started, bootTime + fields[19] / ticks),
        ]
        #else
        return []
        #endif
    }

    /// The start of the system, in seconds since 1970.
    private static let bootTime: Double = {
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) } ?? 0
    }()
}
