// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import StateStore
import SyncModel
import Telemetry

/// Writes the operator's page.
struct StatusPage {
    private let facts: StatusFacts

    init(_ facts: StatusFacts) { self.facts = facts }

    /// The whole document.
    var text: String {
        let page: HTMLText = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="refresh" content="15">
            <title>Rind</title>
            <link rel="stylesheet" href="\(StatusResponder.Page.style.rawValue)">
            </head>
            <body>
            <header><h1>Rind</h1>\(verdict)<span class="quiet">\(subtitle)</span></header>
            <main>
            \(HTMLText([syncs, health, configuration, stuck, failures, slowest, conflicts, versions]))
            </main>
            </body>
            </html>

            """
        return page.text
    }

    private var verdict: HTMLText {
        if facts.service.stateFailure != nil { return #"<strong class="bad">the state fails</strong>"# }
        if facts.isDraining { return #"<strong class="fair">draining</strong>"# }
        switch facts.service.breaker?.state {
        case .open, .halfOpen: return #"<strong class="bad">the backend does not answer</strong>"#
        default: return #"<strong class="good">serving</strong>"#
        }
    }

    private var subtitle: String {
        guard let origin = facts.origin else { return Self.utc(facts.now) }
        let uptime = Self.span(facts.now.milliseconds(since: origin.startedAt))
        return "version \(origin.version), up for \(uptime), \(Self.utc(facts.now))"
    }

    private var syncs: HTMLText {
        let most = max(1, facts.minutes.map { $0.succeeded + $0.others }.max() ?? 1)
        let bars = facts.minutes.enumerated().map { index, minute -> HTMLText in
            let (good, bad) = (minute.succeeded * 100 / most, minute.others * 100 / most)
            let shownBad = minute.others > 0 ? max(2, bad) : 0
            let shownGood = minute.succeeded > 0 ? max(2, good) : 0
            return """
                <rect class="base" x="\(index * 10)" y="101" width="8" height="1"></rect>\
                <rect class="ok" x="\(index * 10)" y="\(100 - shownGood)" width="8" height="\(shownGood)"></rect>\
                <rect class="fault" x="\(index * 10)" y="\(max(0, 100 - shownGood - shownBad))" width="8" \
                height="\(shownBad)"></rect>
                """
        }
        let total = facts.minutes.reduce(0) { $0 + $1.succeeded + $1.others }
        let others = facts.minutes.reduce(0) { $0 + $1.others }
        return """
            <section><h2>Syncs</h2>
            <p><span class="big">\(facts.lastMinute)</span> in the last 60 seconds</p>
            <p class="quiet">\(total) in the last hour, \(others) of them not answered with success; \
            at most \(most) in a minute</p>
            <svg viewBox="0 0 598 102" preserveAspectRatio="none" role="img" \
            aria-label="Syncs in each of the last 60 minutes">\(HTMLText(bars))</svg>
            </section>
            """
    }

    private var health: HTMLText {
        let service = facts.service
        var rows: [(String, HTMLText)] = []
        if let failure = service.stateFailure {
            rows.append(("state", #"<span class="bad">\#(failure.code): \#(Self.meaning(failure.code))</span>"#))
        } else {
            rows.append(("state", #"<span class="good">can be read and written</span>"#))
        }
        rows.append(("backend", "\(service.backend)"))
        if let breaker = service.breaker {
            rows.append(("its last answer", "\(breaker.answeredAt.map { ago($0) } ?? "none yet")"))
            if let failure = breaker.failure { rows.append(("no answer", "\(ago(failure.at)): \(failure.code)")) }
            rows.append(("breaker", Self.breaker(breaker)))
        }
        rows.append(("requests", "\(facts.requests) running"))
        rows.append(("connections", "\(facts.connections.open) of \(facts.connections.limit)"))
        if service.stateFailure == nil {
            rows.append(("quarantine", "\(service.quarantined) lines, \(service.quarantinedPushes) pushed records"))
            rows.append(("open pushes", "\(service.openJournals)"))
        }
        return "<section><h2>Health</h2>\(Self.list(rows))</section>"
    }

    private static func breaker(_ reading: BackendBreaker.Reading) -> HTMLText {
        let times = reading.openings == 1 ? "once" : "\(reading.openings) times"
        let opened: String = reading.openings == 0 ? "" : ", opened \(times)"
        switch reading.state {
        case .closed: return #"<span class="good">closed</span>\#(opened)"#
        case .open: return #"<span class="bad">open: syncs are refused</span>\#(opened)"#
        case .halfOpen: return #"<span class="fair">trying the backend</span>\#(opened)"#
        }
    }

    private func ago(_ moment: Instant) -> String { Self.span(facts.now.milliseconds(since: moment)) + " ago" }

    /// Returns a user with the scope of the sync, which clients state.
    private static func user(_ principal: String, in scope: String?) -> String {
        principal + (scope.map { " \(ForeignText.cut($0, to: 80))" } ?? "")
    }

    private var stuck: HTMLText {
        let rows = facts.service.stuck.map { trouble in
            [
                Cell("device", "\(trouble.replica)", as: .code),
                Cell("user", Self.user("\(trouble.principal)", in: trouble.principal.scope), as: .code),
                Cell(nil, trouble.kind.sentence(trouble.count) + (trouble.code.isEmpty ? "" : ": \(trouble.code)")),
                Cell("since", ago(trouble.since)), Cell("last", ago(trouble.lastAt)),
                Cell(nil, trouble.kind.advice),
            ]
        }
        return Self.table(
            "Stuck devices", ["Device", "User", "Reason", "Since", "Last", "What to do"], rows: rows, none: "none",
            isWide: true)
    }

    private var failures: HTMLText {
        let sorted = facts.failures.sorted { ($1.value.lastAt, $0.key) < ($0.value.lastAt, $1.key) }
        let rows = sorted.prefix(20).map { code, failures in
            [
                Cell(nil, code, as: .code), Cell("times", String(failures.count), as: .number),
                Cell("last", ago(Instant(milliseconds: failures.lastAt))), Cell(nil, Self.meaning(code)),
            ]
        }
        return Self.table(
            "Failures since the start, the newest first", ["Code", "Times", "Last", "Meaning"], rows: Array(rows),
            none: "none", isWide: true)
    }

    private var slowest: HTMLText {
        let rows = facts.slowest.map { sync in
            [
                Cell(nil, Self.seconds(sync.milliseconds), as: .number), Cell(nil, sync.kind),
                Cell("device", sync.replica ?? "–", as: .code),
                Cell("user", sync.principal.isEmpty ? "–" : Self.user(sync.principal, in: sync.scope), as: .code),
                Cell("ended", ago(Instant(milliseconds: sync.endedAt))), Cell(nil, sync.code, as: .code),
            ]
        }
        return Self.table(
            "Slowest syncs of the last hour", ["Time", "Sync", "Device", "User", "Ended", "Code"], rows: rows,
            none: "none",
            isWide: true)
    }

    private var conflicts: HTMLText {
        let rows = facts.conflicts.sorted { ($1.count, $0.table) < ($0.count, $1.table) }.prefix(20).map {
            [Cell(nil, $0.table), Cell("records", String($0.count), as: .number)]
        }
        return Self.table("Conflicts since the start", ["Table", "Records"], rows: Array(rows), none: "none")
    }

    private var versions: HTMLText {
        let rows = facts.service.versions.prefix(20).map {
            [
                Cell("version", $0.version.map(String.init) ?? "not reported"),
                Cell("devices", String($0.devices), as: .number),
            ]
        }
        return Self.table(
            "Schema versions of devices", ["Version", "Devices"], rows: Array(rows), none: "no devices yet")
    }

    private var configuration: HTMLText {
        guard let origin = facts.origin else { return "" }
        var rows: [(String, HTMLText)] = [
            ("file", "\(origin.file)"), ("SHA-256", "\(origin.digest)…"),
            ("in use since", "\(Self.utc(origin.since))"), ("started", "\(Self.utc(origin.startedAt))"),
            ("version", "\(origin.version)"),
        ]
        if let refusedAt = origin.refusedAt {
            let text = "the file was read again \(ago(refusedAt)) and refused: look for config.not_reloaded in the log"
            rows.append(("not reloaded", #"<span class="bad">\#(text)</span>"#))
        }
        return "<section><h2>Configuration</h2>\(Self.list(rows))</section>"
    }
}
