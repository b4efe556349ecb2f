// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import HTTPTypes
import Logging

// Reads who is calling from what others vouch for: the issuer of a token, or a trusted proxy.
extension IdentityResolver {
    /// Refuses a request that says who is calling and does not come from a trusted proxy.
    func checkPeer(of caller: Caller) throws {
        guard let name = identity.proxyField.flatMap({ HTTPField.Name($0) }) else { return }
        guard caller.isPeerTrusted || caller.fields[name] == nil else { throw GatewayFault.untrustedPeer }
    }

    /// Returns the name that a trusted proxy has set.
    func proxyName(in field: String, _ caller: Caller) throws -> String {
        let values = HTTPField.Name(field).map { caller.fields[values: $0] } ?? []
        guard let value = values.first else { throw GatewayFault.notSignedIn }
        guard values.count == 1, IdentityName.isValid(value) else {
            let cause = values.count > 1 ? "the field is there twice" : "its value is no text of 1 to 255 bytes"
            caller.logger.info(
                "the name of a caller was refused",
                metadata: ["code": "\(GatewayFault.proxyField.rawValue)", "field": "\(field)", "cause": "\(cause)"])
            throw GatewayError(fault: .proxyField, cause: cause)
        }
        return value
    }

    /// Verifies the caller's token, if the configuration wants that.
    ///
    /// - Returns: The token; nil if the caller has none.
    func verifiedToken(of credential: Credential, _ caller: Caller) async throws -> VerifiedToken? {
        guard identity.verifiesTokens, let token = credential.bearerToken else { return nil }
        guard let tokens else { throw GatewayFault.tokenKeys }
        do {
            return try await tokens.verify(token)
        } catch let refusal as TokenRefusal {
            throw report(refusal, caller)
        }
    }

    /// Returns the parts that name the session, by `[identity] session`; nil if the request does not name it.
    func name(
        ofSession credential: Credential, _ token: VerifiedToken?, _ caller: Caller
    ) throws(TokenRefusal) -> [[UInt8]]? {
        switch identity.session {
        case nil: return nil
        case .cookie(let name): return credential.sessionParts(ofCookie: name)
        case .jwt(let claim):
            return try token?.name(in: claim).map { credential.parts(of: $0, in: claim, "session jwt") }
        case .header(let name):
            let values = HTTPField.Name(name).map { caller.fields[values: $0] } ?? []
            guard values.count == 1, IdentityName.isValid(values[0]) else { return nil }
            return credential.parts(of: values[0], in: name, "session header")
        }
    }

    /// Calls what may refuse a token, and logs why.
    func reported<Value>(_ caller: Caller, _ body: () throws(TokenRefusal) -> Value) throws -> Value {
        do throws(TokenRefusal) { return try body() } catch { throw report(error, caller) }
    }

    private func report(_ refusal: TokenRefusal, _ caller: Caller) -> GatewayError {
        let code = GatewayFault.tokenRefused
        caller.logger.info(
            "a token was refused",
            metadata: [
                "code": "\(code.rawValue)", "check": "\(refusal.check.rawValue)", "cause": "\(refusal.cause)",
            ])
        return GatewayError(fault: code, cause: refusal.cause)
    }
}
