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
/// No record that is there is changed: a push deletes one that does not exist, in a table that does not exist. The
/// backend keeps its answer, as after each push.
struct BackendProbes {
    private let configuration: Configuration
    private let client: BackendClient
    private let credentials: ForwardedCredentials
    private let fields: HTTPFields

    /// The table of the pushed delete.
    private static let table = "rind_check"

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
            do throws(BackendError) { findings += try await probe() } catch {
                findings.append(
                    CheckFinding(
                        error.isBusy ? .unsure : .wrong, "\(configuration.backend.url): \(error) (\(error.code))",
                        hint: error.isBusy ? "try again" : BackendCheck.hint(error)))
            }
        }
        return findings
    }

    /// Sends a made-up token to the call that names the caller, and to the stream.
    private func madeUpCredential() async throws(BackendError) -> [CheckFinding] {
        // A proxy vouches for a name in a field: the backend has nothing to check.
        if case .header = configuration.identity.principal { return [] }
        let other = configuration.forwardingRule.credentials(of: madeUpFields(), isPeerTrusted: true)
            .with(scope: credentials.scope)
        var findings: [CheckFinding] = []
        for checked in CheckedCall.all(in: configuration, isSignedIn: true) {
            switch checked.kind {
            case .caller:
                findings.append(judge(checked, try await client.probe(checked.call, other).status))
            case .stream(let types):
                findings.append(judge(checked, try await client.probeStream(types: types, other).status))
            case .list, .acknowledgement, .neighbour: break
            }
        }
        return findings
    }

    private func judge(_ checked: CheckedCall, _ status: Int) -> CheckFinding {
        let text = "\(checked.address): status \(status) to a made-up credential"
        switch status {
        case 401, 403: return CheckFinding(.ok, "\(checked.address): refuses a made-up credential (\(status))")
        case 200..<300:
            let isAlone = credentials.fields.allSatisfy { tokenFields.contains($0.name.canonicalName) }
            return CheckFinding(
                isAlone ? .wrong : .unsure, text,
                hint: isAlone
                    ? "whoever asks is served: does the backend check tokens there?"
                    : "whoever asks is served, unless another field of '--header' is the credential")
        case 400:
            return CheckFinding(
                .unsure, text,
                hint: "if it is so for an expired token, too, the app gets 502 and does not sign in anew: answer 401")
        case 404, 410:
            if case .stream = checked.kind { break }
            return CheckFinding(
                .wrong, text,
                hint: "where a sign-in has expired, the app would take its account for deleted: answer 401")
        case 429, 503: return CheckFinding(.unsure, text, hint: "the backend is busy: try again")
        default: break
        }
        return CheckFinding(
            .wrong, text, hint: "where a sign-in has expired, the app would get 502 and not sign in anew: answer 401")
    }

    /// The fields that may carry a token, in lower case.
    private var tokenFields: Set<String> {
        Set(["authorization", "cookie"] + configuration.wire.tokenHeader.map { $0.lowercased() })
    }

    private func madeUpFields() -> HTTPFields {
        var result = HTTPFields()
        for var field in fields {
            if field.name == .cookie {
                let names = field.value.split(separator: ";").map { $0.prefix { $0 != "=" } }
                field.value = names.map { "\($0)=\(CheckedCall.madeUpWord())" }.joined(separator: ";")
            } else if tokenFields.contains(field.name.canonicalName) {
                // The scheme stays.
                let words = field.value.split(separator: " ").dropLast().map(String.init)
                field.value = (words + [CheckedCall.madeUpWord()]).joined(separator: " ")
            }
            result.append(field)
        }
        return result
    }

    /// Presents a token ahead of all that the backend has given out, as a device does after a backup was restored; only
    /// in style `request`, since in style `server` it would be kept.
    private func tokenAhead() async throws(BackendError) -> [CheckFinding] {
        guard configuration.backend.checkpoints == .request else { return [] }
        let types = configuration.schema.requestTypes(at: configuration.schema.version)
        let vector = beginning(of: try await client.probeStream(types: types, credentials)).vector
        let names = [configuration.backend.completeType].compactMap(\.self) + vector.namespaces
        guard let namespace = names.first(where: { vector[$0] != nil }), let token = vector[namespace] else {
            return []
        }
        let ahead = TokenAge.ahead(of: token)
        let presented = CheckpointVector([namespace: ahead ?? "\(namespace)|\(CheckedCall.madeUpWord())"])
        let answer = try await client.probeStream(types: types, from: presented, credentials)
        let address = "\(client.settings.stream.method) \(client.settings.path(of: client.settings.stream))"
        let what = ahead == nil ? "a token that is none" : "a token that it cannot have made"
        let page = "docs/BACKEND-PROTOCOL.md, 7"
        let isReset = (200..<300).contains(answer.status) && beginning(of: answer).isReset
        switch answer.status {
        case _ where isReset || RefusalReading.byNames.isAboutTokens(status: answer.status):
            let how = isReset ? "answers \(what) with a reset" : "refuses \(what) (\(answer.status))"
            guard ahead == nil else { return [CheckFinding(.ok, "\(address): \(how)")] }
            return [
                CheckFinding(
                    .note, "\(address): \(how)",
                    hint: "its tokens do not show their age, so none of a lost database was tried (\(page))")
            ]
        case 200..<300:
            let notice = ahead == nil ? "; its tokens do not show their age, so nothing is noticed" : ""
            return [
                CheckFinding(
                    .note, "\(address): takes \(what)",
                    hint: "after a backup is restored, devices miss changes\(notice): answer with a reset (\(page)), "
                        + "or run 'rind state distrust --restored backend' each time")
            ]
        case 429, 503:
            return [
                CheckFinding(.unsure, "\(address): status \(answer.status)", hint: "the backend is busy: try again")
            ]
        default:
            return [
                CheckFinding(
                    .wrong, "\(address): status \(answer.status) to \(what)",
                    hint: "after a backup is restored, each pull of such a device fails: answer with a reset (\(page))")
            ]
        }
    }

    private func beginning(of answer: ProbedAnswer) -> StreamBeginning {
        StreamBeginning(answer.body, isWhole: answer.isWhole, configuration)
    }

    /// Pushes no lines, and then a delete in a table that does not exist, to see whether the backend reads a push.
    private func push() async throws(BackendError) -> [CheckFinding] {
        guard let call = client.settings.streamPush else { return [] }
        let address = "\(call.method) \(client.settings.path(of: call))"
        let key = CheckedCall.madeUpWord()
        let empty = try await client.probePush(ByteBuffer(), key: key, credentials)
        let text = "\(address): status \(empty.status) to a push of no lines"
        switch empty.status {
        case 401, 403: return [CheckFinding(.wrong, text, hint: "may the account push? [push] path")]
        case 404, 405, 501, 300..<400: return [CheckFinding(.wrong, text, hint: "[push] path")]
        case 429, 503: return [CheckFinding(.unsure, text, hint: "the backend is busy: try again")]
        default: break
        }
        let line = try await pushLine(address)
        // Rind pushes at least one line, so this is no fault.
        guard empty.status >= 500, line.verdict == .ok else { return [line] }
        return [line, CheckFinding(.note, text, hint: "some backends fail at an empty body; apps push none")]
    }

    private func pushLine(_ address: String) async throws(BackendError) -> CheckFinding {
        let id = CheckedCall.madeUpWord()
        var lines = ByteBuffer()
        StreamPushOperation(.delete, table: Self.table, id: id, key: [JSONValue.Member("id", .string(id))])
            .append(to: &lines)
        let page = "docs/BACKEND-PROTOCOL.md, 8"
        do throws(BackendError) {
            switch try await client.pushStream(.bytes(lines), count: 1, key: id, credentials) {
            case .refused(let lines) where lines.contains { $0.outcome == .conflict }:
                return CheckFinding(
                    .wrong, "\(address): says 'conflict' of a table that it does not have",
                    hint: "a device would be told to sync again for ever: say 'rejected' (\(page).5)")
            case .refused:
                return CheckFinding(.ok, "\(address): reads a push, and names the line that it refuses")
            case .applied:
                return CheckFinding(
                    .note, "\(address): says that it has applied a delete of '\(id)' in the table '\(Self.table)'",
                    hint: "pushes of a table whose name it does not know would be lost: answer 422 (\(page).5)")
            }
        } catch .resultsMissing {
            return CheckFinding(
                .wrong, "\(address): answers 200 to a push of one line, without a result for it",
                hint:
                    "it may not have read the line, so apps would get 502 push.unknown_outcome: does its server read a "
                    + "body with Content-Length, and does it answer with one result a line? (\(page).6)")
        } catch {
            guard !error.isBusy, error.isOutcomeUnknown || error.code == "backend.refused" else { throw error }
            return CheckFinding(
                .wrong, "\(address): \(error), to a push of one line that it has to refuse",
                hint:
                    "a push of an app would be 502 again and again: answer 422 and name the line that is refused, and "
                    + "200 with one result a line (\(page).6 and 8.7)")
        }
    }
}

extension BackendError {
    /// True if the backend asks for a pause.
    fileprivate var isBusy: Bool { if case .busy = self { true } else { false } }
}
