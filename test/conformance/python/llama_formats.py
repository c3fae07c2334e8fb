"""Chat on llama.cpp: answers that a schema or a grammar holds, and calls of tools."""

import json
from datetime import date, datetime, time
from enum import Enum
from typing import List, Literal, Optional, Union
from uuid import UUID

import openai
from pydantic import BaseModel, Field

from checks import check, equal, holds, raises
from llama import MESSAGES, MODEL, asked, chat, heard, said, written
from product import client

# Random weights draw bytes that are no UTF-8, which a grammar lets through: these are the tokens of bytes above 127.
WORDS = {str(7 + byte): -100 for byte in range(128, 256)}
ENOUGH = {"max_tokens": 800, "logit_bias": WORDS}


class Signal(Enum):
    STOP = "stop"
    GO = 'gö "slow"'


class Track(BaseModel):
    number: int
    name: str = Field(max_length=6, description="as it is painted on the sign")
    clear: bool


class Plan(BaseModel):
    """What a planner of trains answers."""

    kind: Literal["freight", "passenger"]
    signal: Signal
    main: Track
    others: List[Track] = Field(min_length=1, max_length=2)
    late: Optional[float]
    cargo: Union[Track, Literal["none"], None]


class Siding(BaseModel):
    name: str = Field(max_length=3)
    after: Optional["Siding"]


class Shift(BaseModel):
    day: date
    since: datetime
    bell: time
    id: UUID
    until: Optional[datetime]


class SwitchTrack(BaseModel):
    to: int
    speed: Optional[Literal["slow", "fast"]]


@check("llama formats: parse() gives an object of a pydantic model, whatever is drawn")
def _():
    for seed in range(8):
        completion = client.chat.completions.parse(**asked(response_format=Plan, seed=seed, **ENOUGH))
        plan = completion.choices[0].message.parsed
        holds(isinstance(plan, Plan) and isinstance(plan.main, Track), plan)
        holds(1 <= len(plan.others) <= 2 and plan.signal in Signal, plan)
        equal(Plan.model_validate_json(said(completion)), plan)


@check("llama formats: the helper of streams parses, too")
def _():
    fields = asked(response_format=Plan, seed=1, **ENOUGH)
    with client.chat.completions.stream(**fields) as stream:
        done = [event for event in stream if event.type == "content.done"]
        final = stream.get_final_completion()
    equal(done[0].parsed, final.choices[0].message.parsed)
    equal(final.choices[0].message.parsed, client.chat.completions.parse(**fields).choices[0].message.parsed)


@check("llama formats: dates, times and identifiers are some")
def _():
    for seed in range(8):
        completion = client.chat.completions.parse(**asked(response_format=Shift, seed=seed, **ENOUGH))
        holds(isinstance(completion.choices[0].message.parsed, Shift), said(completion))


@check("llama formats: a schema may contain itself")
def _():
    completion = client.chat.completions.parse(**asked(response_format=Siding, seed=2, **ENOUGH))
    holds(isinstance(completion.choices[0].message.parsed, Siding), completion)


@check("llama formats: an answer cut by its limit is the SDK's error, not half an object")
def _():
    cut = lambda: client.chat.completions.parse(**asked(response_format=Plan, max_tokens=5))
    equal(raises(openai.LengthFinishReasonError, cut).completion.usage.completion_tokens, 5)


@check("llama formats: a schema by hand, json_object, and text")
def _():
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    by_hand = {"type": "json_schema", "json_schema": {"name": "switch", "schema": schema, "strict": True}}
    answer = chat(**asked(response_format=by_hand, max_tokens=200))
    equal([type(value) for value in json.loads(said(answer)).values()], [bool])
    equal(answer.choices[0].finish_reason, "stop")
    # Of random weights only few objects end.
    any_object = {"type": "json_object"}
    objects = [chat(**asked(response_format=any_object, seed=seed, **ENOUGH)) for seed in range(4)]
    ended = [json.loads(said(one)) for one in objects if one.choices[0].finish_reason == "stop"]
    holds(ended and all(isinstance(one, dict) for one in ended), ended)
    fields = asked(max_tokens=8, seed=3)
    equal(said(chat(**fields, response_format={"type": "text"})), said(chat(**fields)))


@check("llama formats: a schema that cannot be held, and a grammar that is none, are refused by name")
def _():
    def refusal(**fields):
        return raises(openai.BadRequestError, lambda: chat(**asked(**fields)))

    def of(schema):
        return {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}

    for schema, part in (({"type": "wizard"}, "wizard"), ({"$ref": "#/$defs/none"}, "#/$defs/none"),
                         ({"type": "object", "patternProperties": {}}, "patternProperties")):  # fmt: skip
        error = refusal(response_format=of(schema))
        holds(error.param.startswith("response_format.json_schema.schema") and part in error.message, error.message)
    equal(refusal(response_format={"type": "json_schema"}).param, "response_format.json_schema")
    equal(refusal(response_format={"type": "xml"}).param, "response_format.type")
    for grammar, part in (("root ::= (", "line 1, column 11"), ('root ::= "a"{5,2}', "at least 5 and at most 2"),
                          ('root ::= (("a"?){100}){100}', "1000 ways"), ('root ::= root "a"', "begins with itself"),
                          ("root ::= none", "`none`")):  # fmt: skip
        error = refusal(extra_body={"grammar": grammar})
        equal((error.param, error.code), ("grammar", "invalid_value"))
        holds(part in error.message, error.message)


@check("llama formats: a schema that contradicts itself, is none, or is too large, is refused with its whole path")
def _():
    text = {"type": "string"}
    for schema, place in (({**text, "minLength": 5, "maxLength": 2}, "maxLength"), ({**text, "maxLength": -1}, "maxLength"),
                          ({"type": "array", "items": text, "minItems": 3, "maxItems": 1}, "maxItems"),
                          ({"type": "object", "required": 5}, "required"), ({"type": []}, "type"),
                          ({"type": "object", "properties": None}, "properties"), ({"$ref": "#/__proto__"}, "$ref"),
                          ({"enum": list(range(20_000))}, "enum"),
                          ({"type": "object", "properties": {"a": {"type": "wizard"}}}, "properties.a.type")):  # fmt: skip
        response_format = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
        error = raises(openai.BadRequestError, lambda: chat(**asked(response_format=response_format)))
        equal((error.param, error.code), (f"response_format.json_schema.schema.{place}", "invalid_value"))
    many = {"type": "object", "properties": {f"p{n}": {"type": "null"} for n in range(900)}}
    response_format = {"type": "json_schema", "json_schema": {"name": "a", "schema": many}}
    holds(said(chat(**asked(response_format=response_format, max_tokens=4))).startswith("{"), "no object")


SWITCH = openai.pydantic_function_tool(SwitchTrack, name="switch_track", description="Sets a switch.")
CALL = (
    r'root ::= "<tool_call>{\"name\": \"switch_track\", "'
    r' "\"arguments\": {\"to\": " [1-9] ", \"speed\": \"slow\"}}</tool_call>"'
)
CALL_TWO = CALL.replace("root", "call") + "\nroot ::= call call"


@check("llama tools: calls are told whole, streamed and parsed alike")
def _():
    fields = written(CALL, tools=[SWITCH], tool_choice="auto", max_tokens=200, seed=6)
    (call,) = chat(**fields).choices[0].message.tool_calls
    wanted = json.loads(call.function.arguments)
    equal((call.type, call.function.name, wanted["speed"]), ("function", "switch_track", "slow"))
    holds(1 <= wanted["to"] <= 9 and call.id.startswith("call_"), call)
    parsed = client.chat.completions.parse(**fields).choices[0]
    equal(parsed.message.tool_calls[0].function.parsed_arguments, SwitchTrack(**wanted))
    equal((parsed.finish_reason, parsed.message.content), ("tool_calls", None))
    with client.chat.completions.stream(**fields) as stream:
        events = list(stream)
        final = stream.get_final_completion().choices[0]
    (done,) = [event for event in events if event.type == "tool_calls.function.arguments.done"]
    equal((done.name, done.parsed_arguments), ("switch_track", SwitchTrack(**wanted)))
    equal((final.finish_reason, len(final.message.tool_calls)), ("tool_calls", 1))


@check("llama tools: several calls have ids of their own; one at most where parallel calls are off")
def _():
    fields = written(CALL_TWO, tools=[SWITCH], max_tokens=400, seed=6)
    calls = chat(**fields).choices[0].message.tool_calls
    equal((len(calls), len({call.id for call in calls})), (2, 2))
    chunks = [choice.delta for chunk in chat(**fields, stream=True) for choice in chunk.choices]
    equal({call.index for delta in chunks for call in delta.tool_calls or []}, {0, 1})
    equal(len(chat(**fields, parallel_tool_calls=False).choices[0].message.tool_calls), 1)


@check("llama tools: none shows the model no tools; what must be called is called, with arguments of its schema")
def _():
    plain = chat(**asked(max_tokens=8, seed=1))
    none = chat(**asked(tools=[SWITCH], tool_choice="none", max_tokens=8, seed=1))
    shown = chat(**asked(tools=[SWITCH], max_tokens=8, seed=1))
    equal((said(none), none.usage.prompt_tokens), (said(plain), plain.usage.prompt_tokens))
    holds(shown.usage.prompt_tokens > plain.usage.prompt_tokens, shown.usage)
    for choice in ("required", {"type": "function", "function": {"name": "switch_track"}}):
        fields = asked(tools=[SWITCH], tool_choice=choice, parallel_tool_calls=False, max_tokens=300, seed=6)
        (call,) = chat(**fields).choices[0].message.tool_calls
        equal(call.function.name, "switch_track")
        SwitchTrack(**json.loads(call.function.arguments))


@check("llama tools: what is no tool and no call is refused by name")
def _():
    def refusal(**fields):
        error = raises(openai.BadRequestError, lambda: chat(**{**asked(max_tokens=4), **fields}))
        return error.param, error.code

    for parameters in (5, [], "a"):
        tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
        equal(refusal(tools=tools), ("tools[0].function.parameters", "invalid_value"))
    for call, place in ((5, ""), ({"id": "1", "type": "function", "function": 5}, ".function"),
                        ({"function": {"name": "f", "arguments": 5}}, ".function.arguments")):  # fmt: skip
        messages = [*MESSAGES, {"role": "assistant", "tool_calls": [call]}]
        equal(refusal(messages=messages), (f"messages[1].tool_calls[0]{place}", "invalid_value"))
    equal(refusal(messages=[*MESSAGES, {"role": "assistant", "tool_calls": [{"function": {}}]}]),
          ("messages[1].tool_calls[0].function.name", "missing_required_parameter"))  # fmt: skip


@check("llama tools: their results are read in the next turn")
def _():
    (call,) = chat(**written(CALL, tools=[SWITCH], max_tokens=200)).choices[0].message.tool_calls
    talk = [
        *MESSAGES,
        {"role": "assistant", "tool_calls": [call.model_dump()]},
        {"role": "tool", "tool_call_id": call.id, "content": "done"},
    ]
    answer = chat(model=MODEL, messages=talk, tools=[SWITCH], max_tokens=4)
    shorter = chat(model=MODEL, messages=talk[:1], tools=[SWITCH], max_tokens=4)
    holds(answer.usage.prompt_tokens > shorter.usage.prompt_tokens, answer.usage)


@check("llama grammar: holds the answer, streamed as well")
def _():
    fields = written('root ::= "track " [0-9] [0-9]', seed=9)
    holds(said(chat(**fields)).removeprefix("track ").isdigit(), said(chat(**fields)))
    equal(heard(chat(**fields, stream=True)), [said(chat(**fields))])
