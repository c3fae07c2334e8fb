"""https://docs.bentoml.com/en/latest/get-started/adaptive-batching.html"""

import bentoml
from device import GROUP, run
from pydantic import BaseModel


class Upload(BaseModel):
    model: str
    audio: str


@bentoml.service(workers=1, traffic={"timeout": 60})
class Transcriber:
    # The window adapts; 60 s is the default limit, after which requests are refused.
    @bentoml.api(batchable=True, max_batch_size=GROUP, max_latency_ms=60_000, route="/transcribe")
    def transcribe(self, uploads: list[Upload]) -> list[str]:
        return run([upload.model for upload in uploads])
