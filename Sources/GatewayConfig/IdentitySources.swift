// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The source of the caller's lasting name.
package enum PrincipalSource: Hashable, Sendable {
    /// The value at `path` of the backend's answer to `method target`, sent with the caller's credential.
    case backend(method: String, target: String, path: Path)
    /// A claim of the caller's token, a JWT that one of the configured keys has signed.
    case jwt(claim: String)
    /// A header field that a trusted proxy sets, its name in lower case.
    case header(name: String)
    /// The value of a cookie.
    case cookie(name: String)
    /// The bearer token itself; only if tokens live as long as the installation.
    case bearer
}

/// The source of the session's name, if it is not the whole credential.
package enum SessionSource: Hashable, Sendable {
    /// A claim of the caller's verified token.
    case jwt(claim: String)
    /// A header field of any caller, its name in lower case.
    case header(name: String)
    /// The value of a cookie.
    case cookie(name: String)
}

/// The place of the keys that verify tokens.
package enum TokenKeySource: Hashable, Sendable {
    /// A file with public keys or certificates in PEM, or with a JWKS; read at the start and at each reload.
    case file(path: String)
    /// The URL of a JWKS, which is fetched again and again.
    case url(String)

    /// The place as the configuration writes it.
    package var description: String {
        switch self {
        case .file(let path): path
        case .url(let url): url
        }
    }
}

/// The algorithms that a token's signature may have (RFC 7518, 3.1, and RFC 8037, 3.1).
///
/// All of them are asymmetric: with an HMAC, whoever can verify tokens can also make them.
package enum TokenAlgorithm: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
}

extension Configuration.Identity {
    /// True if tokens are verified: for the principal or for the session.
    package var verifiesTokens: Bool {
        if case .jwt = principal { return true }
        if case .jwt = session { return true }
        return false
    }

    /// The header field in which a trusted proxy names the caller; nil if there is none.
    package var proxyField: String? { if case .header(let name) = principal { name } else { nil } }
}
