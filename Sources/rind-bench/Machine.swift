// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The machine on which a measurement was made, as far as it matters to the figures.
struct Machine: Codable {
    var processor: String
    var processors: Int
    var system: String
    /// The load average of the last minute before the measurement: the load of other programs.
    var loadBefore: Double?
    var isOptimised: Bool

    /// This machine, now.
    static var current: Machine {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first
        #if DEBUG
        let isOptimised = false
        #else
        let isOptimised = true
        #endif
        return Machine(
            processor: model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown",
            processors: ProcessInfo.processInfo.activeProcessorCount,
            system: ProcessInfo.processInfo.operatingSystemVersionString, loadBefore: load.flatMap { Double($0) },
            isOptimised: isOptimised)
    }

    /// One line for reading.
    var sentence: String {
        let load = loadBefore.map { ", load \(Text.number($0, 2))" } ?? ""
        let build = isOptimised ? "" : "\nThis is a debug build: its figures mean nothing."
        return "\(processor), \(processors) processors, \(system)\(load)\(build)"
    }
}
