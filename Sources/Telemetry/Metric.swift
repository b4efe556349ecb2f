// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The metrics that Rind exposes: the one table from which the exposition and docs/METRICS.md are made.
package enum Metric: String, CaseIterable, Sendable {
    case syncs = "rind_syncs_total"
    case syncTime = "rind_sync_seconds"
    case stageTime = "rind_sync_stage_seconds"
    case requests = "rind_requests_total"
    case rows = "rind_rows_total"
    case deletions = "rind_deletions_total"
    case rowBytes = "rind_row_bytes_total"
    case conflicts = "rind_conflicts_total"
    case fullStreams = "rind_full_streams_total"
    case checkpointLag = "rind_checkpoint_lag_seconds"
    case lines = "rind_backend_lines_total"
    case lineBytes = "rind_backend_bytes_total"
    case resumes = "rind_backend_resumes_total"
    case calls = "rind_backend_calls_total"
    case cachedAnswers = "rind_cached_answers_used_total"
    case identities = "rind_identities_total"
    case quarantinedLines = "rind_quarantined_lines_total"
    case repairedValues = "rind_repaired_values_total"
    case columnValues = "rind_column_values_total"
    case ledgerRepairs = "rind_ledger_repairs_total"
    case heldBack = "rind_held_back_deletions_total"
    case absences = "rind_absent_deletions_total"
    case missingResults = "rind_push_results_missing_total"
    case madeStates = "rind_states_made_total"
    case breakerOpenings = "rind_breaker_openings_total"
    case breakerRefusals = "rind_breaker_refused_calls_total"
    case breakerState = "rind_breaker_state"
    case stuck = "rind_stuck_devices"
    case requestsRunning = "rind_requests_running"
    case connections = "rind_connections_open"
    case connectionLimit = "rind_connections_limit"
    case tunnelsOpen = "rind_tunnels_open"
    case tunnelLimit = "rind_tunnels_limit"
    case tunnels = "rind_tunnels_total"
    case tunnelBytes = "rind_tunnel_bytes_total"
    case pullsRunning = "rind_pulls_running"
    case pullLimit = "rind_pulls_limit"
    case comparisons = "rind_comparisons_running"
    case locksHeld = "rind_locks_held"
    case locksWaiting = "rind_locks_waiting"
    case leases = "rind_leases_total"
    case spool = "rind_spool_bytes"
    case spoolLimit = "rind_spool_limit_bytes"
    case quarantine = "rind_quarantine_lines"
    case quarantinedPushes = "rind_quarantine_pushes"
    case journals = "rind_journals"
    case stateReads = "rind_state_up"
    case draining = "rind_draining"
    case certificateExpiry = "rind_tls_certificate_expiry_timestamp_seconds"
    case tokenKeyAge = "rind_token_keys_age_seconds"
    case reloads = "rind_reloads_total"
    case build = "rind_build_info"
    case cpu = "process_cpu_seconds_total"
    case resident = "process_resident_memory_bytes"
    case virtual = "process_virtual_memory_bytes"
    case descriptors = "process_open_fds"
    case descriptorLimit = "process_max_fds"
    case threads = "process_threads"
    case started = "process_start_time_seconds"

    /// The kinds of metrics, as Prometheus names them.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The kind of the metric.
    package var kind: Kind {
        switch self {
        case .syncTime, .stageTime, .checkpointLag: .histogram
        default: rawValue.hasSuffix("_total") ? .counter : .gauge
        }
    }

    /// True for a counter that is counted elsewhere, and read when the metrics are asked for.
    package var isRead: Bool { self == .cpu || self == .breakerOpenings || self == .breakerRefusals }

    /// The upper ends of the buckets of a histogram, in seconds.
    package var buckets: [Double] { self == .checkpointLag ? Self.lagBuckets : Self.timeBuckets }

    private static let timeBuckets: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    ]

    /// The ends from a minute to 90 days, since backends forget tokens after weeks.
    private static let lagBuckets: [Double] = [
        60, 600, 3_600, 21_600, 86_400, 259_200, 604_800, 1_209_600, 2_592_000, 7_776_000,
    ]
}
