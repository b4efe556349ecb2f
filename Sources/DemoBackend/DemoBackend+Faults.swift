// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension DemoBackend {
    /// Adds something that goes wrong with coming requests; faults for the same request happen in this order.
    package func inject(_ fault: DemoFault) { log.add(fault) }

    /// Lets calls about records fail by chance from now on, by these rules alone; nil lets none fail.
    package func inject(_ faults: RandomFaults?) { log.set(faults) }

    /// Takes back the faults that have not happened yet, random ones too.
    package func clearFaults() { log.clearFaults() }

    /// The ids that pushes and REST writes are refused for, with 422 and 400.
    ///
    /// A new folder or note is meant by its `clientId` too.
    package var rejectedIDs: Set<String> {
        get { log.rejections.ids }
        set { log.rejections.ids = newValue }
    }

    /// Records are refused in the same way where a string that is written contains one of these.
    package var rejectedTexts: Set<String> {
        get { log.rejections.texts }
        set { log.rejections.texts = newValue }
    }

    /// The requests, in the order of arrival.
    package var requests: [DemoRequest] { log.requests }

    /// The number of running requests, including those that a fault holds back or whose client has gone.
    package var requestsUnderWay: Int { log.underWay }

    /// Returns the number of requests with this method and path.
    package func count(_ method: String, _ path: String) -> Int {
        log.requests.count { $0.method == method && $0.path == path }
    }

    /// Forgets what it was asked.
    package func clearRequests() { log.clear() }
}
