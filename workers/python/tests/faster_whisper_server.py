"""faster-whisper alone behind `POST /v1/audio/transcriptions`, to compare with: `switchyard models verify --beside`.

python faster_whisper_server.py FOLDER --port 8090
"""

from __future__ import annotations

import argparse
import io
import json
from email.message import Message
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from faster_whisper import WhisperModel


def handler_of(model: WhisperModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fields = self._form()
            segments, info = model.transcribe(io.BytesIO(fields["file"]), beam_size=1, vad_filter=True)
            text = "".join(segment.text for segment in segments).strip()
            answer = json.dumps({"text": text, "duration": info.duration, "language": info.language}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def _form(self) -> dict[str, bytes]:
            body = self.rfile.read(int(self.headers["content-length"]))
            head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
            parts = BytesParser().parsebytes(head + body).walk()
            return {name_of(part): part.get_payload(decode=True) for part in parts}  # type: ignore[misc]

        def log_message(self, *_: object) -> None:
            return

    return Handler


def name_of(part: Message) -> str:
    return str(part.get_param("name", header="content-disposition"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--compute-type", default="int8")
    options = parser.parse_args()
    model = WhisperModel(options.path, device="cpu", compute_type=options.compute_type, local_files_only=True)
    ThreadingHTTPServer(("127.0.0.1", options.port), handler_of(model)).serve_forever()


if __name__ == "__main__":
    main()
