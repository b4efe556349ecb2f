# Copyright 2026 the Rind authors
# SPDX-License-Identifier: Apache-2.0
"""A WebSocket server for the tests: it listens on a port that the system chooses, and prints it.

/facts says first how it was reached, /bye closes with 4001, /silent never says anything, /codes lists how the
connections before have ended, and every path sends back what comes.
"""

import asyncio
import json
import ssl
import sys

import websockets

codes = []


async def serve(socket, _path=None):
    path = getattr(socket, "path", None) or socket.request.path
    headers = getattr(socket, "request_headers", None) or socket.request.headers
    kind = path.partition("?")[0].rpartition("/")[2]
    try:
        if kind == "facts":
            facts = {"path": path, "subprotocol": socket.subprotocol, "forwarded": headers["X-Forwarded-For"]}
            facts["extensions"] = headers["Sec-WebSocket-Extensions"]
            await socket.send(json.dumps(facts))
        elif kind == "bye":
            return await socket.close(4001, "bye")
        elif kind == "codes":
            return await socket.send(json.dumps(codes))
        async for message in socket:
            if kind != "silent":
                await socket.send(message)
    except websockets.ConnectionClosed:
        pass
    finally:
        if kind != "codes":
            await socket.wait_closed()
            codes.append(socket.close_code)


async def main():
    context = None
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    options = {"subprotocols": ["chat"], "max_size": 1 << 21, "ping_interval": None, "ssl": context}
    async with websockets.serve(serve, "127.0.0.1", 0, backlog=1000, **options) as server:
        print("port", list(server.sockets)[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
