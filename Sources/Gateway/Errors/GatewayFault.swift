// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The reasons for which the gateway itself does not serve a request; the raw value is the stable code of
/// `docs/ERRORS.md`.
///
/// Errors of the backend, the state and the machines have types of their own: `GatewayError(_:)` knows all of them.
package enum GatewayFault: String, Error, CaseIterable, Sendable {
    // The request.
    case hostMissing = "request.host"
    case targetInvalid = "request.target"
    case targetTooLong = "request.target_too_long"
    case headTooLarge = "request.head_too_large"
    case malformed = "request.malformed"
    case httpVersion = "request.http_version"
    case transferCoding = "request.transfer_coding"
    case contentEncoding = "request.encoding"
    case compressedBody = "request.compressed_body"
    case bodyTooLarge = "request.body_too_large"
    case foreignOrigin = "request.origin"
    case recordID = "request.record_id"
    case notSignedIn = "request.not_signed_in"
    // Its course.
    case arrivedTooSlowly = "request.timeout"
    case clientGone = "request.client_gone"
    case clientTooSlow = "request.client_too_slow"
    case cancelled = "request.cancelled"
    // Limits.
    case connections = "limit.connections"
    case tunnels = "limit.tunnels"
    case clientTunnels = "limit.client_tunnels"
    case bodies = "limit.bodies"
    case bodyMemory = "limit.memory"
    case pulls = "limit.pulls"
    case queue = "limit.queue"
    case queueWait = "limit.queue_wait"
    case leaseWait = "limit.lease_wait"
    case rate = "limit.rate"
    // The caller and the app.
    case noPrincipal = "identity.no_principal"
    case accountGone = "identity.gone"
    case otherPrincipal = "identity.changed"
    case tokenRefused = "identity.token"
    case tokenKeys = "identity.keys"
    case proxyField = "identity.header"
    case untrustedPeer = "identity.untrusted_peer"
    case appTooOld = "schema.too_old"
    case scopeUnknown = "request.scope_unknown"
    // Pushes.
    case pushWithoutTime = "push.without_cursor"
    case tooManyDescendants = "push.too_many_descendants"
    // Closed paths and services.
    case deniedPath = "proxy.denied"
    case ambiguousPath = "proxy.ambiguous_target"
    case noPassThrough = "proxy.off"
    case unknownAdminPath = "admin.unknown"
    case draining = "server.draining"
    /// A defect of the gateway.
    case unknown = "internal"

    /// The HTTP status; 499 is nginx's and appears in the log only, since no client is left to get it.
    package var status: Int {
        switch self {
        case .hostMissing, .targetInvalid, .malformed, .compressedBody, .recordID, .pushWithoutTime, .ambiguousPath: 400
        case .notSignedIn, .tokenRefused, .proxyField, .accountGone: 401
        case .foreignOrigin, .deniedPath, .untrustedPeer: 403
        case .noPassThrough, .unknownAdminPath, .scopeUnknown: 404
        case .arrivedTooSlowly: 408
        case .bodyTooLarge, .tooManyDescendants: 413
        case .targetTooLong: 414
        case .contentEncoding: 415
        case .appTooOld: 426
        case .queue, .rate: 429
        case .headTooLarge: 431
        case .clientGone, .clientTooSlow: 499
        case .unknown: 500
        case .transferCoding: 501
        case .noPrincipal: 502
        case .cancelled, .connections, .tunnels, .clientTunnels, .bodies, .bodyMemory, .pulls, .queueWait, .leaseWait,
            .otherPrincipal,
            .tokenKeys, .draining:
            503
        case .httpVersion: 505
        }
    }

    /// The number of seconds after which another attempt makes sense.
    package var retryAfter: Int? {
        switch self {
        case .otherPrincipal: 1
        case .cancelled, .pulls: 2
        case .connections, .bodies, .bodyMemory, .queue, .rate: 5
        case .queueWait, .leaseWait, .tokenKeys, .tunnels, .clientTunnels: 10
        default: nil
        }
    }

    /// The sentence for the user.
    package var message: String {
        switch self {
        case .hostMissing: "The request must name its host exactly once."
        case .targetInvalid: "The address of the request is not valid."
        case .targetTooLong: "The address of the request is too long."
        case .headTooLarge: "The request's address or its fields are too long."
        case .malformed: "The request is not valid HTTP."
        case .httpVersion: "Only HTTP/1.1 and 1.0 are spoken here."
        case .transferCoding: "The request's body is framed in a way that is not understood here."
        case .contentEncoding: "The request's body is compressed in an unknown way."
        case .compressedBody: "The request's body can't be decompressed."
        case .bodyTooLarge: "There are too many changes for one sync."
        case .foreignOrigin: "This page may not sync."
        case .recordID: "A record has an id that is empty or longer than \(RecordID.maximumLength) bytes."
        case .notSignedIn: "You are not signed in."
        case .arrivedTooSlowly: "The request took too long to arrive. Please try again."
        case .clientGone: "The client has gone."
        case .clientTooSlow: "The answer was not taken in time."
        case .cancelled: "The server cannot be reached right now. Please try again in a moment."
        case .connections, .bodies, .bodyMemory, .pulls: "The server is busy. Please try again in a moment."
        case .tunnels, .clientTunnels: "There are too many live connections. Please try again in a moment."
        case .queue: "Too many syncs at once. Please try again in a moment."
        case .rate: "Too many requests. Please try again later."
        case .queueWait, .leaseWait: "Another sync is still running. Please try again in a moment."
        case .tokenRefused, .proxyField: "You are not signed in any more."
        case .tokenKeys: "The server cannot check who is signed in. Please try again in a moment."
        case .untrustedPeer: "This request may not say who is calling."
        case .noPrincipal: "The server did not say who is signed in. Please try again later."
        case .accountGone: "This account does not exist any more."
        case .otherPrincipal: "Somebody else is signed in now. Please sync again."
        case .appTooOld: "This version of the app is too old to sync. Please update it."
        case .scopeUnknown: "What this sync is about does not exist any more, or not for you."
        case .pushWithoutTime:
            "The push does not say what its device had seen. Send the lastPulledAt of pushChanges with it."
        case .tooManyDescendants: "This deletes too much at once. Please contact support."
        case .deniedPath: "This address is not open to apps."
        case .ambiguousPath: "The address of the request is ambiguous."
        case .noPassThrough, .unknownAdminPath: "There is nothing at this address."
        case .draining: "The gateway is draining: it finishes what runs, then stops."
        case .unknown: "Something went wrong. Please try again later."
        }
    }
}
