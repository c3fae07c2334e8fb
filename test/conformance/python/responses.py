"""Responses by the official SDK and by libraries: OpenAI Agents SDK, pydantic-ai, LangChain."""

import asyncio
import functools
import operator

import agents
import openai
import pydantic
from agents.models.openai_responses import OpenAIResponsesModel
from checks import check, equal, raises
from langchain_openai import ChatOpenAI
from llama import MODEL
from product import BASE_URL, client
from pydantic_ai import Agent as TypedAgent
from pydantic_ai.models.openai import OpenAIResponsesModel as TypedResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

# Agents bring tools and their descriptions: each letter is a token.
LONG_MODEL = "llama-long"
QUESTION = "what does a switchyard do?"

agents.set_tracing_disabled(True)


class Switch(pydantic.BaseModel):
    on: bool


def agents_model():
    # Of its own: a client belongs to the event loop that it was used in first.
    return OpenAIResponsesModel(model=LONG_MODEL, openai_client=openai.AsyncOpenAI(base_url=BASE_URL, api_key="unused"))


def asked(**fields):
    return {"model": MODEL, "input": QUESTION, "max_output_tokens": 64, **fields}


@check("responses: whole, as a stream and by the helper of streams, with one id for each item")
def _():
    whole = client.responses.create(**asked(temperature=0))
    events = list(client.responses.create(**asked(temperature=0), stream=True))
    equal([event.sequence_number for event in events], list(range(len(events))))
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    equal((deltas, events[-1].response.output_text), (whole.output_text, whole.output_text))
    ids = {event.item_id for event in events if hasattr(event, "item_id")}
    equal(ids, {item.id for item in events[-1].response.output})
    with client.responses.stream(**asked(temperature=0)) as stream:
        equal(stream.get_final_response().output_text, whole.output_text)


@check("responses: a pydantic model by a schema")
def _():
    equal(type(client.responses.parse(**asked(text_format=Switch)).output_parsed), Switch)


@check("responses: input is counted as the answer counts it")
def _():
    counted = client.responses.input_tokens.count(model=MODEL, input=QUESTION).input_tokens
    equal(counted, client.responses.create(**asked()).usage.input_tokens)


@check("responses: a hosted tool that is offered is reported, and one that is demanded is refused by its name")
def _():
    hosted = {"type": "web_search"}
    offered = client.responses.with_raw_response.create(**asked(tools=[hosted]))
    equal(offered.headers["x-switchyard-ignored"], "tools[0]")
    demanded = asked(tools=[hosted], tool_choice=hosted)
    error = raises(openai.BadRequestError, lambda: client.responses.create(**demanded))
    equal((error.code, error.param), ("unsupported_parameter", "tool_choice.type"))


@check("responses: two agents of the Agents SDK hand over, and the second calls its tool")
def _():
    model = agents_model()
    called = []

    @agents.function_tool
    def weather(celsius: bool) -> str:
        """The weather."""
        called.append(celsius)
        return "rain"

    settings = agents.ModelSettings(tool_choice="required", parallel_tool_calls=False, max_tokens=400)
    second = agents.Agent(name="Second", model=model, tools=[weather], model_settings=settings)
    first = agents.Agent(name="First", model=model, handoffs=[second], model_settings=settings)
    # After its tool an agent chooses freely: random weights then say anything, up to the limit.
    result = asyncio.run(agents.Runner.run(first, QUESTION, max_turns=6))
    equal((result.last_agent.name, len(called)), ("Second", 1))
    types = [type(item).__name__ for item in result.new_items]
    equal(types[:4], ["HandoffCallItem", "HandoffOutputItem", "ToolCallItem", "ToolCallOutputItem"])


@check("responses: the Agents SDK streams a typed output")
def _():
    agent = agents.Agent(name="One", model=agents_model(), output_type=Switch)

    async def run():
        result = agents.Runner.run_streamed(agent, QUESTION)
        kinds = {event.data.type async for event in result.stream_events() if event.type == "raw_response_event"}
        return result.final_output, kinds

    output, kinds = asyncio.run(run())
    equal((type(output), {"response.created", "response.completed"} <= kinds), (Switch, True))


@check("responses: pydantic-ai calls its output tool")
def _():
    provider = OpenAIProvider(base_url=BASE_URL, api_key="unused")
    agent = TypedAgent(TypedResponsesModel(LONG_MODEL, provider=provider), output_type=Switch)
    equal(type(asyncio.run(agent.run(QUESTION)).output), Switch)


@check("responses: LangChain invokes, streams, continues by id, gets an object and calls a tool")
def _():
    def model(**fields):
        given = {"model": LONG_MODEL, "base_url": BASE_URL, "api_key": "unused", "temperature": 0, **fields}
        return ChatOpenAI(use_responses_api=True, **given)

    whole = model(max_tokens=24).invoke(QUESTION)
    streamed = functools.reduce(operator.add, model(max_tokens=24).stream(QUESTION))
    equal((streamed.text, streamed.usage_metadata["output_tokens"]), (whole.text, whole.usage_metadata["output_tokens"]))
    turns = [("user", QUESTION), whole, ("user", QUESTION)]
    by_id = model(max_tokens=24, use_previous_response_id=True).invoke(turns)
    equal(by_id.usage_metadata["input_tokens"], model(max_tokens=24).invoke(turns).usage_metadata["input_tokens"])
    longer = model(max_tokens=400)
    equal(type(longer.with_structured_output(Switch).invoke(QUESTION)), Switch)
    called = longer.bind_tools([Switch], tool_choice="any", parallel_tool_calls=False).invoke(QUESTION)
    equal([call["name"] for call in called.tool_calls], ["Switch"])
