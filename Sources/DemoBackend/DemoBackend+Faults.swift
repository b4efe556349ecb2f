// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension DemoBackend {
    /// Adds a fault for coming requests; faults for the same request happen in the order in which they were added.
    package func inject(_ fault: DemoFault) { log.add(fault) }

    /// Lets calls about records fail at random from now on, in place of earlier random faults; nil ends that.
    package func inject(_ faults: RandomFaults?) { log.set(faults) }

    /// Removes the faults that have not happened yet, including random ones.
    package func clearFaults() { log.clearFaults() }

    /// The ids of records that are refused, with 422 to pushes and 400 to REST writes.
    ///
    /// A new folder or note may also be named by its `clientId`.
    package var rejectedIDs: Set<String> {
        get { log.rejections.ids }
        set { log.rejections.ids = newValue }
    }

    /// The texts that are refused in the same way in any string that is written.
    package var rejectedTexts: Set<String> {
        get { log.rejections.texts }
        set { log.rejections.texts = newValue }
    }

    /// The requests to the backend, in the order of arrival.
    package var requests: [DemoRequest] { log.requests }

    /// The number of requests that are being carried out, including those that a fault delays and whose client has
    /// gone.
    package var requestsUnderWay: Int { log.underWay }

    /// Returns the number of requests with this method and path.
    package func count(_ method: String, _ path: String) -> Int {
        log.requests.count { $0.method == method && $0.path == path }
    }

    /// Forgets the requests so far.
    package func clearRequests() { log.clear() }
}
