// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import Gateway
import GatewayConfig
import HTTPTypes
import JSONBytes
import NIOCore
import SyncMachines
import SyncModel

/// Asks a backend for what otherwise only trouble shows: what it makes of a credential that is none, of a push, and of
/// a token that it cannot have made.
///
/// Nothing that it sends changes anything.
struct BackendProbes {
    private let configuration: Configuration
    private let client: BackendClient
    private let credentials: ForwardedCredentials
    private let fields: HTTPFields

    /// Creates the probes of a backend whose calls are right; `fields` is what the caller gave.
    init(
        _ configuration: Configuration, client: BackendClient, _ credentials: ForwardedCredentials, fields: HTTPFields
    ) {
        self.configuration = configuration
        self.client = client
        self.credentials = credentials
        self.fields = fields
    }

    /// Makes all probes that the configuration has calls for.
    func run() async -> [CheckFinding] {
        var findings: [CheckFinding] = []
        for probe in [madeUpCredential, tokenAhead, push] {
            do throws(BackendError) {
                if let finding = try await probe() { findings.append(finding) }
            } catch {
                let hint = BackendCheck.hint(error)
                findings.append(
                    CheckFinding(.wrong, "\(configuration.backend.url): \(error) (\(error.code))", hint: hint))
            }
        }
        return findings
    }

    private static func madeUpWord() -> String { "rind-check-\(String(Randomness.system.next(), radix: 36))" }

    /// Sends a made-up token to the first call that wants one.
    private func madeUpCredential() async throws(BackendError) -> CheckFinding? {
        // A proxy vouches for a name in a field: the backend has nothing to check.
        if case .header = configuration.identity.principal { return nil }
        let others = configuration.forwardingRule.credentials(of: madeUpFields(), isPeerTrusted: true)
        guard let checked = CheckedCall.all(in: configuration, isSignedIn: true).first else { return nil }
        let other = others.with(scope: credentials.scope)
        let answer: ProbedAnswer
        if case .stream(let types) = checked.kind {
            answer = try await client.probeStream(types: types, other)
        } else {
            answer = try await client.probe(checked.call, other)
        }
        let text = "\(checked.address): status \(answer.status) to a made-up credential"
        return switch answer.status {
        case 401, 403: CheckFinding(.ok, "\(checked.address): refuses a made-up credential (\(answer.status))")
        case 200..<300: CheckFinding(.wrong, text, hint: "whoever asks is served: does the backend check tokens there?")
        case 429, 503: CheckFinding(.unsure, text, hint: "the backend is busy: try again")
        case 404, 410:
            CheckFinding(
                .wrong, text,
                hint: "where a sign-in has expired, the app would take its account for deleted: answer 401")
        default:
            CheckFinding(
                .wrong, text,
                hint: "where a sign-in has expired, the app would get 502 and not sign in anew: answer 401")
        }
    }

    private func madeUpFields() -> HTTPFields {
        let tokens = Set(["authorization", "cookie"] + configuration.wire.tokenHeader.map { $0.lowercased() })
        var result = HTTPFields()
        for field in fields {
            guard tokens.contains(field.name.canonicalName) else {
                result.append(field)
                continue
            }
            let isCookie = field.name == .cookie
            // The scheme, and the names of cookies, stay.
            let words = field.value.split(separator: isCookie ? ";" : " ").map(String.init)
            let value =
                isCookie
                ? words.map { "\($0.prefix { $0 != "=" })=\(Self.madeUpWord())" }.joined(separator: ";")
                : (words.dropLast() + [Self.madeUpWord()]).joined(separator: " ")
            result.append(HTTPField(name: field.name, value: value))
        }
        return result
    }

    /// Presents a token ahead of all that the backend has given out, as a device does after a backup was restored; only
    /// in style `request`, since in style `server` it would be kept.
    private func tokenAhead() async throws(BackendError) -> CheckFinding? {
        guard configuration.backend.checkpoints == .request else { return nil }
        let types = configuration.schema.requestTypes(at: configuration.schema.version)
        let first = beginning(of: try await client.probeStream(types: types, credentials))
        var vector = first.vector
        guard
            let namespace = [configuration.backend.completeType, vector.namespaces.first].compactMap(\.self).first(
                where: {
                    vector[$0] != nil
                }), let token = vector[namespace]
        else { return nil }
        let ahead = TokenAge.ahead(of: token)
        vector = CheckpointVector([namespace: ahead ?? "\(namespace)|\(Self.madeUpWord())"])
        let answer = try await client.probeStream(types: types, from: vector, credentials)
        let address = "\(client.settings.stream.method) \(client.settings.path(of: client.settings.stream))"
        let page = "docs/BACKEND-PROTOCOL.md, 7"
        switch answer.status {
        case 200..<300 where beginning(of: answer).isReset:
            return CheckFinding(.ok, "\(address): answers a token that it cannot have made with a reset")
        case 200..<300:
            let notice = ahead == nil ? "; its tokens do not show their age, so nothing is noticed" : ""
            return CheckFinding(
                .note, "\(address): takes a token that it cannot have made",
                hint:
                    "after a backup is restored, devices miss changes\(notice): answer with a reset (\(page)), or run "
                    + "'rind state distrust --restored backend' each time")
        case let status where RefusalReading.byNames.isAboutTokens(status: status):
            return CheckFinding(.ok, "\(address): refuses a token that it cannot have made (\(status))")
        case 429, 503:
            return CheckFinding(.unsure, "\(address): status \(answer.status)", hint: "the backend is busy: try again")
        default:
            return CheckFinding(
                .wrong, "\(address): status \(answer.status) to a token that it cannot have made",
                hint: "after a backup is restored, each pull of such a device fails: answer with a reset (\(page))")
        }
    }

    private func beginning(of answer: ProbedAnswer) -> StreamBeginning {
        StreamBeginning(answer.body, isWhole: answer.isWhole, configuration)
    }

    /// Pushes no lines, and then a delete in a table that does not exist, to see whether the backend reads a push.
    private func push() async throws(BackendError) -> CheckFinding? {
        guard let call = client.settings.streamPush else { return nil }
        let address = "\(call.method) \(client.settings.path(of: call))"
        let empty = try await client.probePush(ByteBuffer(), key: Self.madeUpWord(), credentials)
        if let fault = emptyPushFault(empty) {
            return CheckFinding(
                fault.verdict, "\(address): status \(empty.status) to a push of no lines\(fault.text)", hint: fault.hint
            )
        }
        let id = Self.madeUpWord()
        let line = StreamPushOperation(.delete, table: "rind_check", id: id, key: [JSONValue.Member("id", .string(id))])
        var lines = ByteBuffer()
        line.append(to: &lines)
        let rule = "docs/BACKEND-PROTOCOL.md, 8"
        do throws(BackendError) {
            switch try await client.pushStream(.bytes(lines), count: 1, key: id, credentials) {
            case .refused:
                return CheckFinding(.ok, "\(address): reads a push, and names the line that it refuses")
            case .applied:
                return CheckFinding(
                    .note, "\(address): says that it has applied a delete in a table that it cannot have",
                    hint: "pushes of a table whose name it does not know would be lost: answer 422 (\(rule).5)")
            }
        } catch .resultsMissing {
            return CheckFinding(
                .wrong, "\(address): answers 200 to a push of one line, without a result for it",
                hint:
                    "it may not have read the line, so apps would get 502 push.unknown_outcome: does its server read a "
                    + "body with Content-Length, and does it answer with one result a line? (\(rule).6)")
        } catch {
            guard error.isOutcomeUnknown || error.code == "backend.refused" else { throw error }
            return CheckFinding(
                .wrong, "\(address): \(error), to a push of one line that it has to refuse",
                hint: "a record that it refuses would be 502 for its device again and again: answer 422 and name the "
                    + "line (\(rule).7)")
        }
    }

    /// Returns what is wrong with the answer to a push of no lines; nil if nothing is, or if it is refused as one.
    private func emptyPushFault(_ answer: ProbedAnswer) -> (verdict: CheckFinding.Verdict, text: String, hint: String)?
    {
        switch answer.status {
        case 200..<300:
            let json = try? JSONValue.parse(answer.body)
            guard json?["results"]?.array == nil else { return nil }
            return (
                .wrong, ", and no 'results'",
                "apps would get 502 push.unknown_outcome: answer with one result a line (docs/BACKEND-PROTOCOL.md, 8.6)"
            )
        case 401, 403: return (.wrong, "", "may the account push? [push] path")
        case 404, 405, 501, 300..<400: return (.wrong, "", "[push] path")
        case 429, 503: return (.unsure, "", "the backend is busy: try again")
        case 500...: return (.note, "", "some backends fail at an empty body; look at the backend's log")
        default: return nil
        }
    }
}
