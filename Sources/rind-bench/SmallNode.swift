// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The gateway in Node.js that ``Small`` compares with: kept connections, stored cursors, pulls and stream pushes.
///
/// This is what a team would write first. It keeps no ledger: on a pull with a cursor everything is in `updated`.
enum SmallNode {
    static let script = """
        // Usage: node gateway.js PORT BACKEND_PORT
        const http = require('node:http')
        const { createHash } = require('node:crypto')
        const [port, backend] = process.argv.slice(2).map(Number)
        const agent = new http.Agent({ keepAlive: true, maxSockets: 256 })

        function cursors() {
          try {
            const { DatabaseSync } = require('node:sqlite')
            const db = new DatabaseSync('cursors.db')
            db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
            db.exec('CREATE TABLE cursor (user TEXT, time INTEGER, tokens TEXT, PRIMARY KEY (user, time))')
            const find = db.prepare('SELECT tokens FROM cursor WHERE user = ? AND time = ?')
            const insert = db.prepare('INSERT OR REPLACE INTO cursor VALUES (?, ?, ?)')
            return { get: (user, time) => find.get(user, time)?.tokens, set: (...row) => insert.run(...row) }
          } catch {
            const rows = new Map()
            return {
              get: (user, time) => rows.get(user + time),
              set: (user, time, tokens) => rows.set(user + time, tokens),
            }
          }
        }
        const stored = cursors()

        const columns = {
          owner_id: 'ownerId', file_name: 'originalFileName', checksum: 'checksum', taken_at: 'localDateTime',
          modified_at: 'fileModifiedAt', is_favorite: 'isFavorite', width: 'width', height: 'height',
        }
        const times = new Set(['taken_at', 'modified_at'])

        function record(data) {
          const row = { id: data.id }
          for (const name in columns) {
            const value = data[columns[name]]
            row[name] = times.has(name) ? Date.parse(value) : value
          }
          return row
        }

        function operation(op, table, row) {
          const data = {}
          for (const name in columns) {
            if (name in row) data[columns[name]] = times.has(name) ? new Date(row[name]).toISOString() : row[name]
          }
          return JSON.stringify({ op, table, id: row.id, key: { id: row.id }, data })
        }

        function call(path, authorization, body, fields) {
          return new Promise((resolve, reject) => {
            const headers = { authorization, 'content-length': Buffer.byteLength(body), ...fields }
            http.request({ agent, port: backend, method: 'POST', path, headers }, response => {
              let text = ''
              response.setEncoding('utf8').on('data', part => text += part)
                .on('end', () => resolve({ status: response.statusCode, text }))
            }).on('error', reject).end(body)
          })
        }

        async function pull(user, since) {
          const tokens = JSON.parse(stored.get(user, since) ?? '{}')
          const request = JSON.stringify({ types: ['AssetsV1'], checkpoints: tokens })
          const { text } = await call('/sync/stream', user, request, { 'content-type': 'application/json' })
          const changes = { assets: { created: [], updated: [], deleted: [] } }
          const upserts = since ? changes.assets.updated : changes.assets.created
          let complete = false
          for (const part of text.split('\\n')) {
            if (!part) continue
            const line = JSON.parse(part)
            if (line.type === 'AssetV1') upserts.push(record(line.data))
            else if (line.type === 'AssetDeleteV1') changes.assets.deleted.push(line.data.assetId)
            else if (line.type === 'SyncCompleteV1') complete = true
            tokens[line.ack.split('|')[0]] = line.ack
          }
          if (!complete) return { status: 502, body: '{}' }
          let timestamp = since
          if (upserts.length + changes.assets.deleted.length > 0) {
            timestamp = Math.max(Date.now(), since + 1)
            stored.set(user, timestamp, JSON.stringify(tokens))
          }
          return { status: 200, body: JSON.stringify({ changes, timestamp }) }
        }

        async function push(user, body) {
          const lines = []
          for (const [table, { created, updated, deleted }] of Object.entries(JSON.parse(body).changes)) {
            for (const row of created) lines.push(operation('create', table, row))
            for (const row of updated) lines.push(operation('update', table, row))
            for (const id of deleted) lines.push(JSON.stringify({ op: 'delete', table, id, key: { id } }))
          }
          const fields = {
            'content-type': 'application/jsonlines+json',
            'idempotency-key': createHash('sha256').update(user).update(body).digest('hex'),
          }
          const { status, text } = await call('/sync/push', user, lines.join('\\n') + '\\n', fields)
          const isDone = status === 200 && JSON.parse(text).results.every(result => result.outcome === 'ok')
          return { status: isDone ? 200 : 409, body: '{}' }
        }

        function read(request) {
          return new Promise((resolve, reject) => {
            let text = ''
            request.setEncoding('utf8').on('data', part => text += part).on('end', () => resolve(text))
              .on('error', reject)
          })
        }

        http.createServer(async (request, response) => {
          const user = request.headers.authorization
          const since = Number(new URL(request.url, 'http://gateway').searchParams.get('last_pulled_at')) || 0
          const answer = request.method === 'POST' ? await push(user, await read(request)) : await pull(user, since)
          const fields = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer.body) }
          response.writeHead(answer.status, fields)
          response.end(answer.body)
        }).listen(port, '127.0.0.1')

        """

    /// Describes how a program keeps cursors: in `node:sqlite` where it has that, else in memory.
    static func note(_ node: String) -> String {
        Tools.succeeds(node, ["-e", "require('node:sqlite')"])
            ? "node keeps its cursors in node:sqlite, with the same journal and the same waits for the disk as rind."
            : "node keeps its cursors in memory: this version has no node:sqlite."
    }
}
