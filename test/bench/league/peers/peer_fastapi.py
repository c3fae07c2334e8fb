"""A micro-batcher of one's own in FastAPI: a queue, and a task that takes what comes within the window."""

import asyncio
from contextlib import asynccontextmanager

import uvicorn
from device import GROUP, PORT, WINDOW_S, run
from fastapi import FastAPI
from pydantic import BaseModel


class Upload(BaseModel):
    model: str
    audio: str


Waiting = tuple[str, asyncio.Future[str]]
queue: asyncio.Queue[Waiting] = asyncio.Queue()


async def next_group() -> list[Waiting]:
    group = [await queue.get()]
    end = asyncio.get_running_loop().time() + WINDOW_S
    try:
        async with asyncio.timeout_at(end):
            while len(group) < GROUP:
                group.append(await queue.get())
    except TimeoutError:
        pass
    return group


async def serve_groups() -> None:
    while True:
        group = await next_group()
        texts = await asyncio.to_thread(run, [model for model, _ in group])
        for (_, answer), text in zip(group, texts, strict=True):
            if not answer.done():
                answer.set_result(text)


@asynccontextmanager
async def lifespan(_: FastAPI):
    task = asyncio.create_task(serve_groups())
    yield
    task.cancel()


app = FastAPI(lifespan=lifespan)


@app.post("/transcribe")
async def transcribe(upload: Upload) -> dict[str, str]:
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    await queue.put((upload.model, answer))
    return {"text": await answer}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning", access_log=False)
