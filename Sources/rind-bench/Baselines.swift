// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The straightforward gateway in Node.js: reads lines, parses each, gathers the records, writes one JSON answer.
///
/// This is what a team would write first, and the gateway is compared with it; nothing about it is slow on purpose.
enum NodeBaseline {
    static let script = """
        // Usage: node gateway.js PORT BACKEND_PORT
        const http = require('node:http')
        const readline = require('node:readline')
        const [port, backend] = process.argv.slice(2).map(Number)

        function record({ data }) {
          return {
            id: data.id,
            owner_id: data.ownerId,
            file_name: data.originalFileName,
            checksum: data.checksum,
            taken_at: Date.parse(data.localDateTime),
            modified_at: Date.parse(data.fileModifiedAt),
            is_favorite: data.isFavorite,
            width: data.width,
            height: data.height,
          }
        }

        function openStream(headers) {
          return new Promise((resolve, reject) => {
            const options = { port: backend, method: 'POST', path: '/sync/stream', headers }
            http.request(options, resolve).on('error', reject).end(JSON.stringify({ types: ['AssetsV1'] }))
          })
        }

        http.createServer(async (request, response) => {
          const stream = await openStream({ authorization: request.headers.authorization })
          const changes = { assets: { created: [], updated: [], deleted: [] } }
          let complete = false
          for await (const text of readline.createInterface({ input: stream, crlfDelay: Infinity })) {
            const line = JSON.parse(text)
            if (line.type === 'AssetV1') changes.assets.created.push(record(line))
            else if (line.type === 'AssetDeleteV1') changes.assets.deleted.push(line.data.assetId)
            else if (line.type === 'SyncCompleteV1') complete = true
          }
          response.writeHead(complete ? 200 : 502, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ changes, timestamp: Date.now() }))
        }).listen(port, '127.0.0.1')

        """
}

/// nginx as a plain reverse proxy: the least that any hop costs.
enum NginxBaseline {
    /// Returns a configuration for one process in the foreground, so that its memory and time are in one place, with
    /// all files below `directory`.
    ///
    /// With kept connections, nginx sends its requests on connections to the backend that it keeps open.
    static func configuration(
        port: Int, backendPort: Int, isBuffering: Bool, isCompressing: Bool = false, directory: URL,
        keptConnections: Int = 0
    ) -> String {
        let gzip = isCompressing ? "gzip on; gzip_comp_level 1; gzip_types application/jsonlines+json;" : ""
        let kept = keptConnections > 0 ? "keepalive \(keptConnections); keepalive_requests 1000000;" : ""
        return """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log stderr warn;
            events { worker_connections 1024; }
            http {
                access_log off;
                client_body_temp_path \(directory.path)/nginx-body;
                proxy_temp_path \(directory.path)/nginx-proxy;
                fastcgi_temp_path \(directory.path)/nginx-fastcgi;
                uwsgi_temp_path \(directory.path)/nginx-uwsgi;
                scgi_temp_path \(directory.path)/nginx-scgi;
                keepalive_requests 1000000;
                \(gzip)
                upstream backend { server 127.0.0.1:\(backendPort); \(kept) }
                server {
                    listen 127.0.0.1:\(port);
                    location / {
                        proxy_pass http://backend;
                        proxy_http_version 1.1;
                        proxy_set_header Connection "";
                        proxy_buffering \(isBuffering ? "on" : "off");
                        proxy_buffer_size 64k;
                        proxy_buffers 16 64k;
                        proxy_busy_buffers_size 512k;
                        proxy_max_temp_file_size 0;
                    }
                }
            }

            """
    }
}

/// The gateway's configuration: the defaults, except ports and paths.
enum GatewayBaseline {
    /// Returns the configuration for small pulls: who calls is read from the token, and the gateway keeps the checkpoints.
    static func idle(port: Int, backendPort: Int, state: URL) -> String {
        configuration(port: port, backendPort: backendPort, state: state)
            .replacing("principal = backend:GET /users/me id", with: "principal = bearer")
            .replacing(
                "[backend]\n",
                with: """
                    [backend]
                    checkpoints = request
                    stream = POST /sync/stream body {"types":"{types}","checkpoints":"{checkpoints}"}

                    """)
    }

    /// Returns the configuration for all else: the backend says who calls, and keeps the checkpoints.
    ///
    /// `settings` are sections that it gets besides.
    static func configuration(
        port: Int, backendPort: Int, state: URL, schema: String = AssetStream.schema, settings: String = ""
    ) -> String {
        """
        [gateway]
        listen = 127.0.0.1:\(port)
        [state]
        url = sqlite:\(state.path)
        [identity]
        principal = backend:GET /users/me id
        key = 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
        [backend]
        url = http://127.0.0.1:\(backendPort)

        [schema]
        version = 1
        oldest = 1
        migrations_enabled_at = 1

        """ + settings + schema
    }
}
