"""https://docs.ray.io/en/latest/serve/advanced-guides/dyn-req-batch.html"""

import asyncio
import os

import ray
from device import GROUP, PORT, WINDOW_S, run
from ray import serve
from starlette.requests import Request


# More requests than a batch have to be with the replica for a batch to fill.
@serve.deployment(max_ongoing_requests=1024)
class Transcriber:
    @serve.batch(max_batch_size=GROUP, batch_wait_timeout_s=WINDOW_S)
    async def transcribe(self, models: list[str]) -> list[str]:
        return await asyncio.to_thread(run, models)

    async def __call__(self, request: Request) -> dict:
        body = await request.json()
        return {"text": await self.transcribe(body["model"])}


if __name__ == "__main__":
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 * 1024 * 1024,
        _node_ip_address="127.0.0.1",
        _temp_dir=os.environ["PEER_FOLDER"],
    )
    serve.start(http_options={"host": "127.0.0.1", "port": PORT}, logging_config={"enable_access_log": False})
    serve.run(Transcriber.bind(), route_prefix="/transcribe", blocking=True)
