"""`python -m switchyard_worker.ctranslate2 --model ID --path FOLDER`"""

from __future__ import annotations

from pathlib import Path

from ..server import serve, worker_arguments
from .engine import WhisperEngine
from .whisper import RETRIES, Settings


def main() -> None:
    parser = worker_arguments("Whisper through CTranslate2, as a Switchyard worker.")
    parser.add_argument("--path", type=Path, required=True, help="folder of a Whisper model in CTranslate2's format")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (%(default)s)")
    parser.add_argument(
        "--compute-type", default="default", help="float32, float16, int8, int8_float16, ...; default: as stored"
    )
    parser.add_argument("--max-batch", type=int, default=8, help="windows of one engine call (%(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of the engine; 0 = one per core, 4 at most")
    parser.add_argument("--beam-size", type=int, default=1, help="1 = greedy (%(default)s)")
    parser.add_argument(
        "--retries",
        type=int,
        default=len(RETRIES),
        choices=range(len(RETRIES) + 1),
        help="times a doubtful window is decoded again: by beam search, then without repeated phrases (%(default)s)",
    )
    parser.add_argument("--vad", action="store_true", help="compute speech only, also for callers who do not ask")
    options = parser.parse_args()
    settings = Settings(options.path, options.device, options.compute_type, options.threads, options.beam_size)
    serve(WhisperEngine(settings, retries=options.retries, max_batch=options.max_batch, vad=options.vad), options)


if __name__ == "__main__":
    main()
