"""A batch as the README of the openai package does many requests: AsyncOpenAI on aiohttp, so many at a time.

Arguments: base URL, input file, output file, requests at a time.
"""

import asyncio
import json
import sys

from openai import AsyncOpenAI, DefaultAioHttpClient


async def main(base_url: str, source: str, target: str, at_a_time: int) -> None:
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as answers:
        async with AsyncOpenAI(base_url=base_url, api_key="none", http_client=DefaultAioHttpClient()) as client:

            async def work() -> None:
                for text in lines:
                    line = json.loads(text)
                    completion = await client.chat.completions.create(**line["body"])
                    answer = {"custom_id": line["custom_id"], "response": completion.model_dump()}
                    answers.write(json.dumps(answer) + "\n")

            await asyncio.gather(*(work() for _ in range(at_a_time)))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
