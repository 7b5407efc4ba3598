#!/usr/bin/env python3
"""log_format.py: the log block format, written a second time from its description.

Prints one line per known-answer block: name, size on disk, chain CRC, FNV-1a 64 of the block as it
goes to disk.  tests/unit/test_logblk.c builds the same blocks with the product's builder and has
these lines as constants; a change of either side that changes a byte breaks the test.

Standard library only; shares nothing with the product.
"""
import struct
import zlib

SECTOR = 512
LIMIT = 61440
MASK64 = (1 << 64) - 1


def fold(image, skip):
    """Rotate-and-XOR over sectors of 128 dwords; the dword at skip counts as zero."""
    total = 0
    for start in range(0, len(image), SECTOR):
        part = 0
        for at in range(start, start + SECTOR, 4):
            if at != skip:
                part ^= int.from_bytes(image[at:at + 4], 'little')
        total = ((total << 1) & 0xFFFFFFFF | total >> 31) ^ part
    return total


def filler(count, seed):
    """count bytes: words x ^ x >> 32 of a Weyl sequence that starts at seed twice."""
    words = bytearray()
    x = seed << 32 | seed
    while len(words) < count:
        x = x + 0x9E3779B97F4A7C15 & MASK64
        words += (x ^ x >> 32).to_bytes(8, 'little')
    return bytes(words[:count])


def record(op, xact, previous, head, payload_bytes):
    start = struct.pack('<HHIIHHIHBB', 0, 24, *previous, 0, xact & 0xFFFFFFFF, xact >> 32, op, 0)
    fixed = start + head
    return fixed + filler(payload_bytes - len(head), zlib.crc32(fixed))


def padded(raw):
    return raw + bytes(-len(raw) % 4)


def content(records):
    return 0x30 + 36 + 2 + sum(len(padded(r)) + 2 for r in records)


def fits(records):
    return content(records) + LIMIT // SECTOR <= LIMIT


def block(fseq, number, parity, previous_bytes, sector_bytes, previous_crc, records):
    chain = record(0, 0, (0, 0, 0), b'PSLC' + struct.pack('<II', previous_crc, 0), 12)
    body = bytearray(0x30)
    offsets = []
    for raw in [chain] + records:
        offsets.append(len(body))
        body += padded(raw)
    for offset in reversed(offsets):
        body += struct.pack('<H', offset)
    used = len(body)
    size = sector_bytes
    while used + size // SECTOR > size:
        size += sector_bytes
    body += bytes(size - used)
    struct.pack_into('<BxHHHBxHIIH', body, 0, 5, len(offsets), used, size, 3, previous_bytes, fseq,
                     number, 1)
    crc = zlib.crc32(bytes(body), previous_crc)
    struct.pack_into('<I', body, 0x50, crc)
    count = size // SECTOR
    for sector in range(count):
        body[size - 1 - sector] = body[sector * SECTOR]
        first, last = (16 if sector == 0 else 0), (8 if sector == count - 1 else 0)
        body[sector * SECTOR] = parity + first + last
    struct.pack_into('<I', body, 0x18, fold(body, 0x18))
    return bytes(body), crc


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK64
    return value


def change(page, generation):
    return b'PSPC' + struct.pack('<HHIIQQ', 3, 1, page, 1, generation, 0)


def transaction(fseq, number):
    xact = 0x123456789ABC
    return [record(0x80, xact, (0, 0, 0), b'', 0),
            record(0x04, xact, (fseq, number, 2), change(4711, 99), 101),
            record(0x81, xact, (fseq, number, 3), b'COMMITTED', 9)]


def full():
    records = []
    while True:
        i = len(records)
        more = record(0x04, i, (0, 0, 0), change(i, 1000 + i), 32 + i * 977 % 5000)
        if not fits(records + [more]):
            return records
        records.append(more)


def main():
    cases = [
        ('empty', 512, 0x40, []),
        ('transaction', 512, 0x40, transaction(50, 17)),
        ('full', 512, 0x40, full()),
        ('longest', 512, 0x80, [record(0x04, 7, (1, 2, 3), change(1, 2), 60000 - 24)]),
        ('transaction_4096', 4096, 0x80, transaction(50, 17)),
        ('two_4096', 4096, 0x80, [record(0x01, 7, (0, 0, 0), change(64, 1), 4090)]),
        ('full_4096', 4096, 0x80, full()),
    ]
    crc, previous_bytes, number = 0x12345678, 0, 16
    for name, sector_bytes, parity, records in cases:
        image, crc = block(50, number, parity, previous_bytes, sector_bytes, crc, records)
        print('    {"%s", %d, 0x%08Xu, 0x%016Xull},' % (name, len(image), crc, fnv1a(image)))
        previous_bytes = len(image)
        number += len(image) // SECTOR


if __name__ == '__main__':
    main()
