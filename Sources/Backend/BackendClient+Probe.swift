// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import HTTPTypes

extension BackendClient {
    /// Asks whether the backend can be reached at all: any answer of HTTP will do, since there is no credential.
    ///
    /// - Returns: The status of `GET` on the backend's URL.
    /// - Throws: ``BackendError/transport(_:)`` with what stands in the way.
    package func probe() async throws(BackendError) -> Int {
        var request = CurlRequest(method: .get, url: settings.url + "/")
        request.timeouts = settings.callTimeouts
        let response = try await send(request)
        return response.status.code
    }
}
