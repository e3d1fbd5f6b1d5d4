import TestSupport

/// A small server as ownCloud's, which keeps files in memory and reports their MD5 and SHA-1.
///
/// It takes files of which the size is not known, and knows no ranges. It may flip a bit of all that it is
/// given.
final class HashingServer {
    private let server: RunningTool
    /// The folder's address, as `--remote` takes it.
    let address: String

    init(flipping: Bool) throws {
        server = try RunningTool("python3", ["-u", "-c", Self.script, flipping ? "flip" : "keep"])
        guard let port = try server.readLine() else { throw ServedDirectory.NotStarted() }
        address = "rclone::webdav,url='http://127.0.0.1:\(port)/',vendor=owncloud:"
    }

    private static let script = #"""
        import hashlib, sys, urllib.parse
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        files, flips = {}, sys.argv[1] == "flip"

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def name(self, text): return urllib.parse.unquote(urllib.parse.urlparse(text).path).strip("/")
            def log_message(self, *_): pass
            def answer(self, code, body=b"", **headers):
                self.send_response(code)
                for key, value in headers.items(): self.send_header(key.replace("_", "-"), value)
                self.send_header("Content-Length", len(body))
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)
            def body(self):
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body
            def do_PUT(self):
                body = bytearray(self.body())
                if flips and len(body) > 9: body[len(body) // 2] ^= 1
                files[self.name(self.path)] = bytes(body)
                self.answer(201)
            def do_MKCOL(self): self.answer(201)
            def do_DELETE(self): self.answer(204 if files.pop(self.name(self.path), None) is not None else 404)
            def do_MOVE(self):
                files[self.name(self.headers["Destination"])] = files.pop(self.name(self.path))
                self.answer(201)
            def do_GET(self):
                body = files.get(self.name(self.path))
                self.answer(404) if body is None else self.answer(200, body)
            def do_PROPFIND(self):
                self.body()
                wanted = self.name(self.path)
                if wanted and wanted not in files: return self.answer(404)
                listed = {wanted: files[wanted]} if wanted else files
                text = '<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">'
                if not wanted: text += self.entry("/", "<d:resourcetype><d:collection/></d:resourcetype>")
                for name, body in listed.items():
                    sums = f"SHA1:{hashlib.sha1(body).hexdigest()} MD5:{hashlib.md5(body).hexdigest()}"
                    text += self.entry("/" + urllib.parse.quote(name),
                        f"<d:getcontentlength>{len(body)}</d:getcontentlength><d:resourcetype/>"
                        f"<oc:checksums><oc:checksum>{sums}</oc:checksum></oc:checksums>")
                self.answer(207, (text + "</d:multistatus>").encode(), Content_Type="application/xml")
            def entry(self, path, properties):
                return (f"<d:response><d:href>{path}</d:href><d:propstat><d:prop>"
                    "<d:getlastmodified>Sat, 21 Nov 2026 09:01:00 GMT</d:getlastmodified>" + properties +
                    "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_): pass

        server = Server(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """#
}
