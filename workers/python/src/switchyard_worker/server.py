"""The process around an engine: address, TLS and token, health, and the drain on SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import hmac
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse

from switchyard.v1.common_pb2 import HealthResponse

from .engine import Engine
from .errors import WorkerError
from .service import MAX_MESSAGE_BYTES, SERVICES, Service

log = logging.getLogger("switchyard_worker")
#: A gateway probes every second: how long a drained worker stays, to be seen draining.
NOTICE_S = 3.0
OPTIONS = [
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # The gateway pings idle connections every 10 s, which by default ends them ("too_many_pings").
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
    ("grpc.http2.max_ping_strikes", 0),
    # A second worker on this port must fail, not share its calls.
    ("grpc.so_reuseport", 0),
]


class TokenCheck(grpc.aio.ServerInterceptor):
    """Ends every call, health checks included, that lacks `authorization: Bearer TOKEN`."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        sent = dict(details.invocation_metadata or ()).get("authorization", "").encode()
        refusal: Any = grpc.unary_unary_rpc_method_handler(self._refuse)
        return await continuation(details) if hmac.compare_digest(sent, self._expected) else refusal

    async def _refuse(self, _request: Any, context: Any) -> None:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "This worker requires a token.")


def worker_arguments(description: str = "A Switchyard worker.") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", required=True, help="id of the model in the gateway's config/models.yaml")
    parser.add_argument("--listen", default="127.0.0.1:0", help="HOST:PORT; port 0 = any free port (%(default)s)")
    parser.add_argument("--token-file", type=Path, help="calls must carry this file's content as a bearer token")
    parser.add_argument("--tls-cert", type=Path, help="PEM; with --tls-key: speak TLS")
    parser.add_argument("--tls-key", type=Path)
    parser.add_argument("--tls-client-ca", type=Path, help="PEM; require client certificates that it signed")
    parser.add_argument("--insecure", action="store_true", help="listen beyond loopback without TLS and token")
    parser.add_argument("--drain-s", type=float, default=30.0, help="SIGTERM: seconds for running calls (%(default)s)")
    parser.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error"])
    return parser


def serve(engine: Engine, args: Sequence[str] | argparse.Namespace | None = None) -> None:
    """Runs a worker until SIGTERM or SIGINT. `args`: see `worker_arguments`; None: the command line."""
    options = args if isinstance(args, argparse.Namespace) else worker_arguments().parse_args(args)
    is_local = options.listen.rpartition(":")[0] in ("127.0.0.1", "localhost", "[::1]")
    if not (is_local or options.insecure or options.tls_cert or options.token_file):
        sys.exit(f"--listen {options.listen} reaches beyond this machine: give --token-file, --tls-cert or --insecure")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    log.setLevel(options.log_level.upper())
    asyncio.run(run(engine, options))


async def run(engine: Engine, options: argparse.Namespace) -> None:
    service, standard = SERVICES[engine.kind](engine, options.model), health.aio.HealthServicer()
    await standard.set("", HealthCheckResponse.NOT_SERVING)
    # The token of the gateway that has started this process.
    token = options.token_file.read_text().strip() if options.token_file else os.environ.get("SWITCHYARD_WORKER_TOKEN")
    interceptors = [TokenCheck(token)] if token else []
    server = grpc.aio.server(interceptors=interceptors, options=OPTIONS)
    handler = grpc.method_handlers_generic_handler(f"switchyard.v1.{service.name}", service.methods())
    server.add_generic_rpc_handlers((handler,))
    health_pb2_grpc.add_HealthServicer_to_server(standard, server)
    try:
        port = _listen(server, options)
    except RuntimeError as error:
        sys.exit(f"Cannot listen on {options.listen}: {error}")
    await server.start()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    log.info("Listening on port %d, loading %s", port, options.model)
    try:
        await asyncio.to_thread(engine.load)
    except Exception as error:
        await server.stop(0)
        sys.exit(f"The model cannot be loaded: {error}")
    service.start()
    await standard.set("", HealthCheckResponse.SERVING)
    log.info("Ready on port %d: %s on %s", port, engine.name, engine.device)
    await stop.wait()
    log.info("Draining: %d calls", len(service.calls))
    service.state = HealthResponse.STATE_DRAINING
    await standard.set("", HealthCheckResponse.NOT_SERVING)
    await _drained(service, options.drain_s)
    await server.stop(1)


def _listen(server: grpc.aio.Server, options: argparse.Namespace) -> int:
    if options.tls_cert is None:
        return server.add_insecure_port(options.listen)
    pair = (options.tls_key.read_bytes(), options.tls_cert.read_bytes())
    ca = options.tls_client_ca.read_bytes() if options.tls_client_ca else None
    return server.add_secure_port(options.listen, grpc.ssl_server_credentials([pair], ca, ca is not None))


async def _drained(service: Service, limit_s: float) -> None:
    """Running calls have ended, and the gateway has seen the drain: then no request is lost."""
    await _within(limit_s, service.idle)
    for request in list(service.calls.values()):
        request.cancel(WorkerError("shutting_down", "The worker is shutting down."))
    await _within(NOTICE_S, service.idle)
    await _within(NOTICE_S, service.drain_reported)


async def _within(seconds: float, event: asyncio.Event) -> None:
    await asyncio.wait([asyncio.ensure_future(event.wait())], timeout=seconds)
