#!/usr/bin/env python3
"""The page format a second time: builds pages of format version 1, body version 1 from the
documents (verify/page.h, verify/page_fill.c's head comment, verify/syspage*.c) and nothing else.

  page_format.py               print the golden vectors: name and SHA-256 of the sealed 8 KiB
  page_format.py --corpus DIR  write such images, some damaged, as seeds of fuzz_page.c

tests/unit/test_page.c and test_syspage.c hold the printed vectors as constants.  A vector that
changes is a new format version (verify/README.md), never a new constant.  Needs libxxhash.so.0.
"""
import ctypes
import hashlib
import os
import struct
import sys
import zlib

PAGE, SECTOR = 8192, 512
M64 = (1 << 64) - 1
XX = ctypes.CDLL('libxxhash.so.0')
XX.XXH3_64bits_withSeed.restype = ctypes.c_uint64


def xxh3(data, seed=0):
    data = bytes(data)
    return XX.XXH3_64bits_withSeed(data, ctypes.c_size_t(len(data)), ctypes.c_uint64(seed & M64))


def name_seed(name):
    return int.from_bytes(name, 'little')


def fold(page):
    """SQL Server's page checksum, as the XOR of rotated sectors; 0x3C counts as zero."""
    p, acc = bytearray(page), 0
    p[0x3C:0x40] = bytes(4)
    for i in range(PAGE // 4):
        word, turn = int.from_bytes(p[4 * i:4 * i + 4], 'little'), 15 - i // 128
        acc ^= (word << turn | word >> (32 - turn)) & 0xFFFFFFFF
    return acc


def body_key(run_id, seed):
    return xxh3(run_id, seed)


def run_tag(run_id):
    return xxh3(run_id, name_seed(b'PSRUNTAG')) & 0xFFFF


def first_fseq(run_id):
    return 2 + xxh3(run_id, name_seed(b'PSSTFSEQ')) % 65536


def chain_start(run_id, uid):
    return xxh3(run_id, name_seed(b'PSSCHAIN') + uid) & 0xFFFFFFFF


def body_words(key, share):
    """All 1,024 words, those that nothing else will stand on as the share wants them."""
    def word(n):
        x = ((key | 1) + n * 0x3C6EF372FE94F82A) & M64
        return (x & 0xFFFFFFFF) * (x >> 32) ^ (x << 20) & M64

    words, before = [word(n) for n in range(1024)], 0
    for s in range(16):
        first, last = (24 if s == 0 else 2), (60 if s == 15 else 64)
        after = before + last - first
        flat = after * share // 10000 - before * share // 10000
        for w in range(first, first + flat):
            words[64 * s + w] = word(1024 + s)
        before = after
    return words


def data_page(run_id=bytes(range(16)), seed=1, share=0, uid=1, incarnation=1, file_id=1, page_no=16,
              generation=1, actor=0, lsn=(50, 16, 1), time_ns=0):
    key = body_key(run_id, seed)
    name = struct.pack('<IHHQ', page_no, uid, 0, generation)
    p = bytearray(struct.pack('<1024Q', *body_words(xxh3(name, key), share)))
    # sector stamps
    for s in range(1, 16):
        head = struct.pack('<IHH', page_no, uid, run_tag(run_id))
        head += struct.pack('<Q', generation)[:6]
        p[s * SECTOR:s * SECTOR + 14] = head
        check = s << 12 | zlib.crc32(head + bytes([s])) & 0xFFF
        struct.pack_into('<H', p, s * SECTOR + 14, check)
    # SQL Server's header: a heap page with one row of 8,060 bytes
    p[0:96] = bytes(96)
    struct.pack_into('<BBBBHH', p, 0, 1, 1, 0, 0, 0x0200, 256)
    struct.pack_into('<H', p, 0x0E, 8057)
    struct.pack_into('<HIHH', p, 0x16, 1, 0x5350, 34, 8156)
    struct.pack_into('<IH', p, 0x20, page_no, file_id)
    struct.pack_into('<IIH', p, 0x28, *lsn)
    # the row's start, its column count and null bitmap, free space, slot 0
    struct.pack_into('<BBH', p, 96, 0x10, 0, 8057)
    p[8153:8192] = struct.pack('<HB', 1, 0) + bytes(34) + struct.pack('<H', 96)
    # page stamp
    stamp = struct.pack('<4sBBH16sHHIQQQIIHH12x', b'PSTM', 1, 1, share, run_id, uid, incarnation,
                        page_no, generation, time_ns, key, *lsn, actor % 4096)
    assert len(stamp) == 80
    crc = zlib.crc32(bytes(p[:0x3C]) + stamp)
    p[100:196] = stamp + struct.pack('<IIQ', crc, 0, 0)
    struct.pack_into('<Q', p, 188, xxh3(p))
    struct.pack_into('<I', p, 0x3C, fold(p))
    return bytes(p)


def system_page(page_no, file_id, kind, rows, pminlen=0, lsn=(50, 16, 1)):
    p = bytearray(PAGE)
    struct.pack_into('<BBBBH', p, 0, 1, kind, 0, 0, 0x0200)
    struct.pack_into('<H', p, 0x0E, pminlen)
    at = 96
    for i, row in enumerate(rows):
        p[at:at + len(row)] = row
        struct.pack_into('<H', p, PAGE - 2 * i - 2, at)
        at += len(row)
    struct.pack_into('<HIHH', p, 0x16, len(rows), 99, PAGE - at - 2 * len(rows), at)
    struct.pack_into('<IH', p, 0x20, page_no, file_id)
    struct.pack_into('<IIH', p, 0x28, *lsn)
    struct.pack_into('<I', p, 0x3C, fold(p))
    return bytes(p)


def pfs_page(page_no, file_id, values):
    status = bytearray(8088)
    for n, value in values.items():
        status[n % 8088] = value
    return system_page(page_no, file_id, 11, [struct.pack('<HH', 0, 8092) + status])


def map_page(page_no, file_id, kind, extents, head=bytes(90)):
    """GAM (8): the extents are used; others: the extents are set."""
    bits = 0
    for e in extents:
        bits |= 1 << (e % 63904)
    if kind == 8:
        bits ^= (1 << 63904) - 1
    rows = [struct.pack('<HH', 0, 94) + head,
            struct.pack('<HH', 0, 7992) + bits.to_bytes(7988, 'little')]
    return system_page(page_no, file_id, kind, rows, pminlen=90)


def iam_page(page_no, file_id, extents):
    interval = page_no // 511232
    head = bytearray(90)
    struct.pack_into('<I', head, 0, interval)
    struct.pack_into('<IH', head, 36, interval * 511232, file_id)
    return map_page(page_no, file_id, 10, extents, bytes(head))


def boot_page(file_id, dbid, name, checkpoint):
    row = bytearray(struct.pack('<HHHH', 0, 1444, 869, 869) + bytes(1436))
    row[0x94 - 96:0x194 - 96] = name.encode('utf-16-le').ljust(256, b'\x20')
    struct.pack_into('<H', row, 0x198 - 96, dbid)
    struct.pack_into('<IIH', row, 0x1BC - 96, *checkpoint)
    return system_page(9, file_id, 13, [bytes(row)])


def guid(run_id, column, a, b):
    seed = 2 * (column << 32 | a << 16 | b)
    return struct.pack('<QQ', xxh3(run_id, seed), xxh3(run_id, seed + 1))


def header_row(columns):
    bodies = [columns.get(i, b'') for i in range(24)]
    start = struct.pack('<BBH4xH4xH', 0x30, 0, 8, 25, 24)
    at, ends = len(start) + 48, []
    for body in bodies:
        at += len(body)
        ends.append(at)
    return start + struct.pack('<24H', *ends) + b''.join(bodies)


def file_header(run_id=bytes(range(16)), uid=1, incarnation=1, file_id=1, dbid=5, log=False,
                pages=64, sector=512, seed=1, share=0, mark=True):
    u32 = lambda v: struct.pack('<I', v)
    row = header_row({
        0: guid(run_id, 0, dbid, 0), 2: struct.pack('<H', file_id),
        3: struct.pack('<H', 0 if log else 1), 4: u32(pages),
        5: u32(268435456 if log else 0xFFFFFFFF), 6: u32(0), 12: u32(pages), 13: u32(0),
        15: u32(sector), 23: guid(run_id, 23, uid, incarnation)})
    m = struct.pack('<BBH12s16sHHHHIIIQHBBI', 0x10, 0, 76, b'PAGESTORM/1', run_id, uid,
                    incarnation, file_id, dbid, int(log), pages, sector, seed, share, 1, 1, 0)
    m += struct.pack('<QHB', xxh3(m), 1, 0)
    return system_page(0, file_id, 15, [row, m] if mark else [row])


def torn(page, pattern):
    p, saved = bytearray(page), pattern
    for s in range(1, 16):
        at = 512 * s + 511
        saved |= (p[at] & 3) << (2 * s)
        p[at] = p[at] & 0xFC | pattern
    struct.pack_into('<I', p, 0x3C, saved)
    struct.pack_into('<H', p, 4, 0x0100)
    return bytes(p)


RUN2 = bytes.fromhex('f0e1d2c3b4a5968778695a4b3c2d1e0f')
PAGES = {
    'data_first': data_page(),
    'data_full': data_page(RUN2, 0xFEDCBA9876543210, 5000, 0xFFFF, 0xABCD, 0x7FFF, 0x7FFFFFFF,
                           0x0123456789ABCDEF, 5001, (0xFFFFFFFE, 0x12345678, 0xFEDC), M64),
    'data_flat': data_page(share=10000, page_no=511234, generation=7),
    'data_little': data_page(share=333, page_no=10, generation=2, actor=4095),
}
SYSTEM = {
    'header_data': file_header(),
    'header_log': file_header(RUN2, 3, 2, 2, 7, True, 8191, 4096, 99, 2500),
    'boot': boot_page(1, 5, 'd\u00fcrer \U0001F4BE', (51, 20, 2)),
    'pfs_first': pfs_page(1, 1, {0: 0x44, 8: 0x74, 8087: 0x44}),
    'pfs_second': pfs_page(8088, 1, {8088: 0x44, 16175: 0x61}),
    'gam_first': map_page(2, 1, 8, [0, 1, 63903]),
    'sgam_second': map_page(511233, 3, 9, [63904, 63913]),
    'diff_first': map_page(6, 1, 16, [7, 8]),
    'ml_first': map_page(7, 1, 17, []),
    'iam_second': iam_page(511240, 3, [63904 + 12345]),
}


def print_vectors():
    for run_id, seed in ((bytes(range(16)), 1), (RUN2, 0xFEDCBA9876543210)):
        print('run %s body_key %#018x tag %#06x fseq %d chain(2) %#010x' % (
            run_id.hex(), body_key(run_id, seed), run_tag(run_id), first_fseq(run_id),
            chain_start(run_id, 2)))
    for name, page in (PAGES | SYSTEM).items():
        print('%-12s %s' % (name, hashlib.sha256(page).hexdigest()))


def write_corpus(folder):
    def flip(page, at):
        p = bytearray(page)
        p[at] ^= 0x10
        return bytes(p)

    first, header = PAGES['data_first'], SYSTEM['header_data']
    foreign = file_header(mark=False)
    seeds = {
        'data_page': first, 'data_body_damaged': flip(first, 5000), 'data_torn': torn(first, 1),
        'data_half': first[:4096] + PAGES['data_flat'][4096:], 'header_own': header,
        'header_mark_damaged': flip(header, 226), 'header_own_damaged': flip(header, 300),
        'header_foreign': foreign, 'header_foreign_torn': torn(foreign, 2),
        'log_header': SYSTEM['header_log'], 'boot': SYSTEM['boot'], 'short': first[:600],
    }
    for name, page in seeds.items():
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(page)


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == '--corpus':
        write_corpus(sys.argv[2])
    elif len(sys.argv) == 1:
        print_vectors()
    else:
        sys.exit(__doc__)
