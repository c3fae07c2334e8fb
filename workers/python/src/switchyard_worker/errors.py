"""How a call fails: a code of the gateway's error registry, sent in trailers (proto/switchyard/v1/common.proto)."""

from __future__ import annotations

from urllib.parse import quote

from grpc import StatusCode

INVALID = """
invalid_value missing_required_parameter unsupported_parameter unsupported_task invalid_audio audio_too_short
file_too_large file_url_refused file_url_unreachable voice_not_found context_length_exceeded
"""
#: Codes that a worker may send, each with the gRPC status that fits it. The gateway reads the code, not the status.
STATUS_OF_CODE = {
    **dict.fromkeys(INVALID.split(), StatusCode.INVALID_ARGUMENT),
    "duplicate_request_id": StatusCode.ALREADY_EXISTS,
    "request_cancelled": StatusCode.CANCELLED,
    "inference_timeout": StatusCode.DEADLINE_EXCEEDED,
    "no_worker": StatusCode.UNAVAILABLE,
    "shutting_down": StatusCode.UNAVAILABLE,
    "engine_failed": StatusCode.INTERNAL,
}


class WorkerError(Exception):
    """A failure of one request. `param`: the field of the caller's request at fault. The caller reads the message."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code, self.param = code, param
        self.status = STATUS_OF_CODE[code]

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        param = () if self.param is None else (("switchyard-param", quote(self.param, safe="")),)
        return (("switchyard-code", self.code), *param)


def as_worker_error(error: BaseException) -> WorkerError:
    """Any other exception is `engine_failed`, which the gateway never sends again."""
    return error if isinstance(error, WorkerError) else WorkerError("engine_failed", f"{type(error).__name__}: {error}")
