"""Measures uploads through rclone against rclone alone, over a server on the loopback."""

import os
import re
import shutil
import subprocess

import datasets
import measure


def serve(directory):
    """A server of a directory, and rclone's name of it."""
    server = subprocess.Popen(
        ["rclone", "serve", "sftp", "--no-auth", "--addr", "127.0.0.1:0", directory],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    for line in server.stderr:
        found = re.search(r"listening on .*127\.0\.0\.1:(\d+)", line)
        if found:
            password = subprocess.run(["rclone", "obscure", "x"], capture_output=True, text=True,
                                      check=True).stdout.strip()
            return server, f":sftp,host=127.0.0.1,port={found[1]},user=x,pass={password}:"
    raise measure.Failed("rclone serve did not start")


def run(bench, size):
    """A backup to a local folder, rclone's copy of that archive, and backups through rclone."""
    if not shutil.which("rclone"):
        bench.say("rclone is not installed: uploads are left out")
        return {}
    peer = bench.grocerydude
    stores = datasets.ensure(bench.work, "mixed", size)
    measure.warm(stores)
    runs = {title: [] for title in ("backup, local", "rclone copyto", "backup through rclone",
                                    "backup through rclone, spool: false")}
    for number in range(bench.options.rounds):
        served = bench.fresh("served")
        server, place = serve(served)
        try:
            local, home = bench.fresh("out", "upload"), bench.fresh("home", "upload")

            def timed(title, command):
                measure.settle()
                runs[title].append(bench.run(peer, command, home))
                bench.say(f"upload, round {number + 1}: {title}: {runs[title][-1]['wall']:.2f} s")

            backup = [peer.binary, "backup", "--quiet", "--stores", stores, "--remote"]
            timed("backup, local", [*backup, local])
            (archive,) = (name for name in os.listdir(local) if name.endswith(".zip"))
            timed("rclone copyto", ["rclone", "copyto", os.path.join(local, archive),
                                    place + "copy.zip"])
            timed("backup through rclone", [*backup, "rclone:" + place])
            timed("backup through rclone, spool: false", [*backup, "rclone:" + place, "--set", "spool=false"])
        finally:
            server.kill()
            server.wait()
    for name in ("served", "out/upload", "home/upload"):
        bench.discard(bench.place(name))
    return {title: measure.summary(results) for title, results in runs.items()}
