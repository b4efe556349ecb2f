// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Metric {
    /// The names of the labels, at most four.
    ///
    /// Each has few values: words of the program, codes of docs/ERRORS.md, or tables of the configuration.
    package var labels: [String] {
        switch self {
        case .syncs: ["kind", "mode", "result", "code"]
        case .syncTime: ["kind"]
        case .stageTime: ["kind", "stage"]
        case .requests: ["kind", "status"]
        case .rows, .deletions, .rowBytes: ["table", "direction"]
        case .conflicts: ["table"]
        case .columnValues: ["table", "column", "problem"]
        case .fullStreams: ["reason"]
        case .checkpointLag: ["age"]
        case .calls: ["status"]
        case .identities, .reloads: ["result"]
        case .spool, .spoolLimit: ["where"]
        case .journals, .breakerState: ["state"]
        case .leases: ["event"]
        case .stuck: ["reason"]
        case .tunnels: ["end"]
        case .tunnelBytes: ["direction"]
        case .build: ["version"]
        default: []
        }
    }

    /// The meaning, in one sentence.
    package var help: String {
        switch self {
        case .syncs:
            "Sync requests that have ended: kind pull, push or unknown; mode as in the log; result ok, refused (4xx), "
                + "failed (5xx) or cut; code of the failure."
        case .syncTime: "Time from the head of a sync request to the end of its answer."
        case .stageTime: "Time of a sync in one stage; a stage in which a sync was not is not counted."
        case .requests:
            "Requests that have ended: kind sync, proxy, probe or admin; status 1xx (tunnels), 2xx, 3xx, 4xx, 5xx or cut."
        case .rows: "Records sent to clients (direction out) and records of pushes that were applied (in)."
        case .deletions: "Deletions sent to clients (direction out) and deletions of pushes that were applied (in)."
        case .rowBytes: "Bytes of these records as JSON, without compression."
        case .conflicts: "Pushed records that were refused since they were changed elsewhere."
        case .fullStreams: "Pulls that streamed everything although the client had a timestamp, by the reason."
        case .checkpointLag:
            "Age of the timestamp with which a pull begins, by the age of its device: day, week, month or older (less "
                + "than so long since its first pull)."
        case .lines: "Lines that the backend has streamed for pulls."
        case .lineBytes: "Bytes of these lines, without compression."
        case .resumes: "Streams of the backend that broke and were resumed."
        case .calls: "Requests of syncs to the backend, by the class of the status; none: there was no answer."
        case .cachedAnswers: "Pulls that went on from a cached answer instead of streaming its lines again."
        case .identities: "Callers identified: known, or asked of the backend."
        case .quarantinedLines: "Lines that pulls have put into quarantine."
        case .repairedValues: "Values that were replaced by a default, or repaired."
        case .columnValues:
            "Values of a column that could not be taken as they came: unreadable (apps got the column's default), no_zone "
                + "(times taken as UTC), repaired (values of pushes) or withheld (defaults that were not sent)."
        case .ledgerRepairs: "Changes that the stream had missed and a full comparison has found."
        case .heldBack: "Deletions held back because too many records were missing."
        case .absences: "Deletions that no line of the backend named: the records did not come with a full stream."
        case .missingResults: "Lines of pushes without a result, in answers that said that all was applied."
        case .madeStates: "1 if this process found no state and made one anew; else 0."
        case .breakerOpenings: "How often syncs were refused for a while because the backend did not answer."
        case .breakerRefusals: "Calls to the backend that were not made for that reason."
        case .breakerState: "1 for the state of the breaker before the backend: closed, open or half_open; else 0."
        case .stuck: "Devices that do not get on, by the reason; read at most every half minute, the first 1,000."
        case .requestsRunning: "Requests of clients that are running."
        case .connections: "Open connections of clients."
        case .connectionLimit: "The most connections of clients that are served."
        case .tunnelsOpen: "Open tunnels: connections of clients that the backend has switched to another protocol."
        case .tunnelLimit: "[limits] tunnels, or what of it fits."
        case .tunnels: "Ended tunnels by the reason: client, backend, idle, slow, lost, drain; or refused by a limit."
        case .tunnelBytes: "Bytes that tunnels have carried: in, from clients, or out, to clients."
        case .pullsRunning: "Pulls and conflict checks that hold a permit for a stream."
        case .pullLimit: "[limits] pulls."
        case .comparisons: "Pulls that compare a whole request type."
        case .locksHeld: "Sessions, cursors and principals whose work is running."
        case .locksWaiting: "Syncs that wait for another one of the same session, cursor or principal."
        case .leases: "Leases by event: wait, refused (waited too long), taken_over (not given back), lost (in a sync)."
        case .spool: "Bytes that answers hold: where memory or disk."
        case .spoolLimit: "[spool] memory_total and disk_total."
        case .quarantine: "Lines in quarantine; read at most every half minute."
        case .quarantinedPushes: "Pushed records in quarantine, which only the operator ends; the first 10,000."
        case .journals: "Journals of pushes by calls in the state, by their state; the first 10,000."
        case .stateReads: "1 if the last read of the state for these metrics succeeded."
        case .draining: "1 while the gateway drains."
        case .certificateExpiry: "The end of the certificate for clients, in seconds since 1970."
        case .tokenKeyAge: "Time since the keys of tokens were fetched from their URL."
        case .reloads: "Reloads of the configuration: result ok, or failed, after which the one before stays in use."
        case .build: "Always 1; the label has the version."
        case .cpu: "Time of the processors in user and system mode."
        case .resident: "Resident memory."
        case .virtual: "Virtual memory."
        case .descriptors: "Open file descriptors."
        case .descriptorLimit: "The soft limit of file descriptors."
        case .threads: "Threads."
        case .started: "Start of the process, in seconds since 1970."
        }
    }

    /// The table of metrics for docs/METRICS.md.
    package static var page: String {
        let rows = allCases.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(metric.rawValue)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |"
        }
        return (["| name | kind | labels | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }
}
