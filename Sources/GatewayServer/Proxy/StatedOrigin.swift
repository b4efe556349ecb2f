// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Holds what a trusted proxy states about the origin of a request.
package struct StatedOrigin: Hashable, Sendable {
    /// The addresses from the client to the last proxy but one, separated by commas; nil if none is stated.
    var addresses: String?
    /// The client's scheme in small letters.
    var scheme: String?
    /// The host that the client has asked for.
    var host: String?

    /// Creates the statement of a peer that states nothing.
    init() {}

    /// Reads the fields `X-Forwarded-For`, `-Proto` and `-Host`; only if none of them is there, `Forwarded` (RFC 7239).
    ///
    /// A proxy that sets the former may pass on what a client has written into the latter.
    init(_ fields: HTTPFields) {
        addresses = fields[.forwardedFor]
        scheme = fields[.forwardedProto]?.lowercased()
        host = fields[.forwardedHost]
        guard self == StatedOrigin(), let forwarded = fields[.forwarded] else { return }
        let elements = Self.elements(of: forwarded)
        let stated = elements.map { $0["for"] ?? "unknown" }.map { TrustedProxies.withoutPort($0[...]) }
        if !stated.isEmpty { addresses = stated.joined(separator: ", ") }
        // Those before it are other proxies', or the client's own.
        scheme = elements.last?["proto"]?.lowercased()
        host = elements.last?["host"]
    }

    /// Returns the elements of `Forwarded` as their parameters, with names in small letters; none if it is malformed.
    static func elements(of text: String) -> [[String: String]] {
        var elements: [[String: String]] = [[:]]
        var (name, value) = ("", "")
        var (isValue, isQuoted, isEscaped) = (false, false, false)
        func take() -> Bool {
            let key = name[...].trimmedSpaces.lowercased()
            defer { (name, value, isValue) = ("", "", false) }
            if key.isEmpty { return !isValue }
            return isValue && elements[elements.count - 1].updateValue(value, forKey: key) == nil
        }
        for scalar in text.unicodeScalars {
            if isEscaped {
                value.unicodeScalars.append(scalar)
                isEscaped = false
            } else if isQuoted {
                if scalar == "\\" {
                    isEscaped = true
                } else if scalar == "\"" {
                    isQuoted = false
                } else {
                    value.unicodeScalars.append(scalar)
                }
            } else if scalar == ";" || scalar == "," {
                guard take() else { return [] }
                if scalar == "," { elements.append([:]) }
            } else if scalar == "=", !isValue {
                isValue = true
            } else if scalar == "\"", isValue, value.isEmpty {
                isQuoted = true
            } else if isValue {
                if scalar != " " { value.unicodeScalars.append(scalar) }
            } else {
                name.unicodeScalars.append(scalar)
            }
        }
        guard !isQuoted, take() else { return [] }
        return elements.filter { !$0.isEmpty }
    }
}

extension HTTPField.Name {
    static let forwarded = known("Forwarded")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwardedProto = known("X-Forwarded-Proto")
    static let forwardedHost = known("X-Forwarded-Host")
}
