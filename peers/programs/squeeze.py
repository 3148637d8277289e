"""What is left of a file by zlib, the C library, and its different blocks by SHA-256, in the plainest way: one line of
JSON. Chunks of 128 KiB are deflated by themselves; stored: in units of 8 KiB, no less than an eighth."""

import hashlib
import json
import sys
import zlib

CHUNK, UNIT = 128 << 10, 8 << 10


def packed_bytes(block):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return min(len(packer.compress(block) + packer.flush()), len(block))


def left(chunk):
    packed = packed_bytes(chunk)
    units = -(-max(packed, -(-len(chunk) // 8)) // UNIT)
    return packed, min(units * UNIT, len(chunk))


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    chunks = [left(data[at : at + CHUNK]) for at in range(0, len(data), CHUNK)]
    result = {
        "bytes": len(data),
        "deflate": sum(packed for packed, _ in chunks),
        "deflate_4k": sum(packed_bytes(data[at : at + 4096]) for at in range(0, len(data), 4096)),
        "stored": sum(stored for _, stored in chunks),
        "distinct": {},
    }
    for size in 4 << 10, 8 << 10, 128 << 10:
        blocks = {}
        for at in range(0, len(data), size):
            block = data[at : at + size]
            blocks[hashlib.sha256(block).digest()] = len(block)
        result["distinct"][str(size)] = sum(blocks.values())
    print(json.dumps(result))


main(sys.argv[1])
