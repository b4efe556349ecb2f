// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Carries requests to a backend and their answers back: libcurl's reactor, or a substitute for a network.
package protocol HTTPTransport: Sendable {
    /// Sends a request, and returns the answer, whose body is read on demand; see ``CurlReactor/execute(_:)``.
    func execute(_ request: CurlRequest) async throws(CurlError) -> CurlResponse

    /// Sends a request, and passes the answer to `use` while a streamed body is still being sent; see
    /// ``CurlReactor/perform(_:_:)``.
    func perform<Result>(
        _ request: CurlRequest, _ use: (CurlResponse) async throws -> Result
    ) async throws -> Result
}
