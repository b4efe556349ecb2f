// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import INI
import SyncModel

/// Finds time zones by the names that a configuration uses: `Europe/Berlin`, `UTC`, `+02:00`.
struct ZoneNames {
    private var known: [String: ZoneOffsets] = ["UTC": .utc]

    /// Returns the zone of a name; it is made once, since that asks for some 20,000 moments.
    mutating func zone(_ name: Located<String>) throws(Mistake) -> ZoneOffsets {
        if let zone = known[name.value] { return zone }
        guard let zone = Self.fixed(name.value) ?? Self.named(name.value) else {
            throw Mistake(
                "'\(name.value)' is no time zone", at: name.span,
                hint: NearestName.hint(for: name.value, among: TimeZone.knownTimeZoneIdentifiers)
                    ?? "write a name such as Europe/Berlin, UTC, or an offset such as +02:00")
        }
        known[name.value] = zone
        return zone
    }

    /// Returns the zone of an offset such as `+02:00`; nil for any other text.
    private static func fixed(_ name: String) -> ZoneOffsets? {
        let parts = name.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = name.first, sign == "+" || sign == "-", parts.count == 2,
            parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { ("0"..."9").contains($0) } }),
            let hours = Int64(parts[0]), let minutes = Int64(parts[1]), hours <= 23, minutes <= 59
        else { return nil }
        return ZoneOffsets(name: name, first: (hours * 60 + minutes) * (sign == "-" ? -60_000 : 60_000))
    }

    /// Returns a zone of the time zone database, from 1900 to 2200; the offsets at the edges hold beyond them.
    private static func named(_ name: String) -> ZoneOffsets? {
        guard TimeZone.knownTimeZoneIdentifiers.contains(name), let zone = TimeZone(identifier: name) else {
            return nil
        }
        func offset(_ second: Int64) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))) * 1_000
        }
        let (begin, end, week): (Int64, Int64, Int64) = (-2_208_988_800, 7_258_118_400, 604_800)
        var changes: [ZoneOffsets.Change] = []
        var last = offset(begin)
        // No zone has gone forth and back within a week.
        for start in stride(from: begin, to: end, by: Int(week)) {
            let next = offset(start + week)
            guard next != last else { continue }
            var (before, after) = (start, start + week)
            while after - before > 1 {
                let middle = (before + after) / 2
                if offset(middle) == last { before = middle } else { after = middle }
            }
            changes.append(ZoneOffsets.Change(at: after * 1_000, offset: next))
            last = next
        }
        return ZoneOffsets(name: name, first: offset(begin), changes: changes)
    }
}
