// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// The checks of what tells who is calling.
extension Loader {
    mutating func checkIdentity() {
        guard !isBroken("identity", "principal"), !isBroken("identity", "session") else { return }
        checkProxyField()
        checkTokenKeys()
        checkRotation()
    }

    /// Demands that the operator says which proxies may name callers: with a wrong list anybody could be anybody.
    private mutating func checkProxyField() {
        guard let name = configuration.identity.proxyField else { return }
        let isStated = position("gateway", "trusted_proxies") != nil && !configuration.gateway.trustedProxies.isEmpty
        if !isStated, configuration.gateway.listen.path == nil, !isBroken("gateway", "trusted_proxies") {
            problems.error(
                "'header:\(name)' needs to know which proxies may say who is calling",
                at: anyPosition("identity", "principal"), hint: "list their addresses in [gateway] trusted_proxies")
        }
        let others = ["authorization", "cookie"] + configuration.wire.tokenHeader
        if Self.neverForwarded.contains(name) || others.contains(name) {
            problems.error("'\(name)' cannot be the field of a proxy", at: anyPosition("identity", "principal"))
        }
        if configuration.backend.forwardHeaders.contains(name) {
            problems.error(
                "'\(name)' is forwarded as the caller's name already", at: anyPosition("backend", "forward_headers"),
                hint: "remove it from the list",
                second: second("identity", "principal", text: "it is the caller's name here"))
        }
    }

    private mutating func checkTokenKeys() {
        let identity = configuration.identity
        guard identity.verifiesTokens, !isBroken("identity", "jwt_keys") else { return }
        guard identity.jwtKeys != nil else {
            let isPrincipal = if case .jwt = identity.principal { true } else { false }
            return problems.error(
                "tokens need keys that verify them",
                at: anyPosition("identity", isPrincipal ? "principal" : "session"),
                hint: "set [identity] jwt_keys: the URL of the issuer's JWKS, or a file")
        }
        if identity.jwtIssuer == nil, identity.jwtAudience.isEmpty, !isBroken("identity", "jwt_issuer"),
            !isBroken("identity", "jwt_audience")
        {
            problems.warning(
                "every token counts that these keys have signed, whoever it was made for",
                at: anyPosition("identity", "jwt_keys"), hint: "set jwt_issuer and jwt_audience")
        }
    }

    /// Warns of tokens that change within a session of the backend.
    private mutating func checkRotation() {
        guard case .jwt = configuration.identity.principal, configuration.identity.session == nil,
            configuration.backend.checkpoints == .server, !isBroken("backend", "checkpoints")
        else { return }
        problems.warning(
            "a new token is a new session, so its device gets a full stream",
            at: anyPosition("identity", "principal"), hint: "set session to a claim that stays, such as 'jwt:sid'")
    }
}
