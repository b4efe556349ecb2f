# Copyright 2026 the Rind authors
# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client for the tests: client.py SCENARIO URL [CA].

It prints what it has seen, and fails where something is not as it must be.
"""

import asyncio
import json
import random
import ssl
import sys

import websockets

scenario, url = sys.argv[1:3]
context = ssl.create_default_context(cafile=sys.argv[3]) if len(sys.argv) > 3 else None


def connect(path, **options):
    return websockets.connect(url + path, ssl=context, max_size=1 << 21, ping_interval=None, **options)


async def codes():
    async with connect("/codes") as socket:
        return json.loads(await socket.recv())


async def wait_for_code(code):
    while code not in await codes():
        await asyncio.sleep(0.02)


async def messages():
    """1,000 messages of 1 B to 1 MB both ways."""
    random.seed(7)
    sizes = [1, 125, 126, 65_535, 65_536, 1_000_000]
    sizes += [random.randint(1, 3_000) for _ in range(954)] + [random.randint(1, 100_000) for _ in range(37)]
    sizes += [1_000_000] * 3
    random.shuffle(sizes)
    sent = [random.randbytes(size) if size % 2 else "ä" * (size // 2) for size in sizes]
    async with connect("/facts?room=1&next=%2Fx", subprotocols=["v2", "chat"]) as socket:
        facts = json.loads(await socket.recv())
        assert facts["path"] == "/base/facts?room=1&next=%2Fx", facts
        assert facts["subprotocol"] == socket.subprotocol == "chat", facts
        assert "permessage-deflate" in facts["extensions"], facts
        assert [type(one).__name__ for one in getattr(socket, "extensions", None) or socket.protocol.extensions] == [
            "PerMessageDeflate"
        ]

        async def send():
            for message in sent:
                await socket.send(message)

        sending = asyncio.create_task(send())
        for number, message in enumerate(sent):
            assert await socket.recv() == message, number
        await sending
        print("messages", len(sent), "bytes", sum(sizes))


async def ends():
    """Both sides close, each with a code that the other one hears."""
    async with connect("/echo") as socket:
        await socket.close(4000, "enough")
    await wait_for_code(4000)
    async with connect("/bye") as socket:
        try:
            await socket.recv()
        except websockets.ConnectionClosed:
            print("closed", socket.close_code, socket.close_reason)
    # Somebody who goes without a word.
    socket = await connect("/echo")
    socket.transport.abort()
    await wait_for_code(1006)


async def silent():
    """Nobody says anything, until the connection is closed."""
    async with connect("/silent") as socket:
        try:
            await socket.recv()
        except websockets.ConnectionClosed:
            print("closed", socket.close_code)
    await wait_for_code(1006)


async def many():
    """500 at a time."""
    count = 500
    gate = asyncio.Semaphore(50)

    async def open_one():
        async with gate:
            return await connect("/echo", open_timeout=60)

    sockets = await asyncio.gather(*(open_one() for _ in range(count)))

    async def talk(number, socket):
        for size in (1, 200, 2_000):
            message = f"{number} ".encode() * size
            await socket.send(message)
            assert await socket.recv() == message

    for _ in range(2):
        await asyncio.gather(*(talk(number, socket) for number, socket in enumerate(sockets)))
    print("open", len(sockets), flush=True)
    await asyncio.gather(*(socket.close() for socket in sockets))


async def drain():
    """Talks until the connection is closed."""
    async with connect("/echo") as socket:
        await socket.send("hello")
        assert await socket.recv() == "hello"
        print("open", flush=True)
        try:
            await socket.recv()
        except websockets.ConnectionClosed:
            print("closed", socket.close_code, flush=True)


asyncio.run(globals()[scenario]())
