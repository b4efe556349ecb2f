// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension DemoBackend {
    /// Adds something that goes wrong with coming requests; faults for the same request happen in this order.
    package func inject(_ fault: DemoFault) { log.add(fault) }

    /// Takes back the faults that have not happened yet.
    package func clearFaults() { log.clearFaults() }

    /// The ids that pushes and REST writes are refused for, with 422 and 400.
    package var rejectedIDs: Set<String> {
        get { log.rejectedIDs }
        set { log.rejectedIDs = newValue }
    }

    /// What it was asked, in the order of arrival.
    package var requests: [DemoRequest] { log.requests }

    /// How often it was asked this.
    package func count(_ method: String, _ path: String) -> Int {
        log.requests.count { $0.method == method && $0.path == path }
    }

    /// Forgets what it was asked.
    package func clearRequests() { log.clear() }
}
