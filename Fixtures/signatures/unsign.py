"""Takes the signature out of an archive: unsign.py ARCHIVE"""
import struct
import sys
import zipfile

path = sys.argv[1]
archive = zipfile.ZipFile(path)
data = open(path, "rb").read()
entries = archive.infolist()
assert entries[-1].filename == ".grocerydude/signature"
records = data[archive.start_dir : data.rindex(b"PK\x01\x02")]
count = len(entries) - 1
start = entries[-1].header_offset
end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(records), start, 0)
open(path, "wb").write(data[:start] + records + end)
