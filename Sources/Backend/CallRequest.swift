// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The request of a call with all values filled in; it can be kept and sent again.
package struct CallRequest: Hashable, Sendable {
    /// The HTTP method.
    package let method: String
    /// The path below the backend's URL.
    package let target: String
    /// The body as JSON; nil for none.
    package let body: [UInt8]?
    /// The value of `If-Match`; nil for no such field.
    package let ifMatch: String?

    /// Creates a request from its stored parts.
    package init(method: String, target: String, body: [UInt8]?) {
        self.method = method
        self.target = target
        self.body = body
        ifMatch = nil
    }

    /// Fills the placeholders of a call, for a sync of this scope.
    ///
    /// - Throws: ``BackendError/invalidCall(_:)`` if a value is missing or cannot stand in an address, and
    ///   ``BackendError/unsafeValue(_:)`` if a value would name another resource.
    package init(_ call: Call, _ values: CallValues, in scope: SyncScope) throws(BackendError) {
        let renderer = CallRenderer(values: values, scope: scope)
        method = call.method
        target = try renderer.target(call.target)
        body = try renderer.body(of: call)
        ifMatch = call.sendsVersion ? values.seen?.text : nil
    }
}
