import { Readable } from 'node:stream';
import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import {
  CreateResponseRequest,
  ResponseInputRequest,
} from '../../contracts/openai/response.dto.js';
import {
  type ResponseEvent,
  type ResponseObject,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import { missingField } from '../../contracts/schema/field-problems.js';
import { demandModel } from '../../platform/auth/principal.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { sendEvents } from '../inference/output-stream.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { describesText, jsonExample } from '../text/completions.controller.js';
import { piecesOf, usageAmong } from '../text/generation-pieces.js';
import { NamesFields } from '../text/param-names.js';
import {
  dialectAnswer,
  type TextDialect,
  TextGenerationService,
} from '../text/text-generation.service.js';
import { BackgroundResponses } from './background/background-responses.js';
import { NativeResponses } from './native-responses.js';
import {
  parseCompaction,
  parseInputCount,
  parseResponse,
  compactionOf,
} from './parse/parse-response.js';
import { newResponse } from './parse/response-object.js';
import { Conversations, type ResponseTurn } from './stored/conversations.js';
import { eventFrame, ResponseFeed } from './stored/response-feed.js';
import { PARAMS_OF_RESPONSE } from './writer/response-generation.js';
import { ResponseWriter } from './writer/response-writer.js';

const EVENTS = {
  type: 'string',
  description:
    'With `stream: true`: `response.created`, `response.in_progress`, events of each item and its parts, and at last ' +
    '`response.completed`, `response.incomplete`, or `error` and `response.failed`; then `data: [DONE]`. ' +
    '`sequence_number` counts from 0 without gaps.',
};

const ask = {
  model: 'gpt-4o-mini',
  input: 'What does a switchyard do?',
  max_output_tokens: 64,
};
const weather = {
  type: 'function',
  name: 'weather',
  description: 'The weather at a place.',
  parameters: {
    type: 'object',
    properties: { place: { type: 'string' } },
    required: ['place'],
  },
};

const EXAMPLES = {
  whole: { summary: 'The whole answer', value: ask },
  stream: { summary: 'Server-sent events', value: { ...ask, stream: true } },
  tools: {
    summary: 'A function has to be called',
    value: { ...ask, tools: [weather], tool_choice: 'required' },
  },
};

const REQUEST: ResponseRequest = {
  model: 'gpt-4o-mini',
  input: [],
  include: [],
  stream: true,
  store: false,
  background: false,
  instructions: null,
  previous_response_id: null,
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_output_tokens: 64,
  max_tool_calls: null,
  text: { format: { type: 'text' } },
  reasoning: null,
  truncation: 'disabled',
  top_logprobs: 0,
  metadata: {},
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
};

function example(): { readonly response: ResponseObject; readonly events: string } {
  const head = {
    id: 'resp_1',
    created_at: 1_763_683_200,
    model: 'qwen3-8b',
    service_tier: 'default',
  };
  const writer = new ResponseWriter(newResponse(REQUEST, head));
  const events = [
    ...writer.begin(),
    ...writer.take({ type: 'text', text: 'It sorts.' }),
    ...writer.take({ type: 'finish', reason: 'stop' }),
    ...writer.end(1_763_683_201),
  ];
  return { response: writer.response, events: events.map(eventFrame).join('') };
}

/** OpenAPI of the route. */
function DescribesResponses(): MethodDecorator {
  const { response, events } = example();
  return describesText({
    body: CreateResponseRequest,
    description:
      'The same models as chat. Items have the same ids in the stream and in the response.',
    result: 'The response, whole or as events.',
    errors: ['context_length_exceeded', 'storage_quota_exceeded'],
    examples: EXAMPLES,
    content: {
      ...jsonExample(response),
      'text/event-stream': { schema: EVENTS, example: events },
    },
  });
}

const OF_INPUT = {
  body: ResponseInputRequest,
  errors: ['context_length_exceeded'],
} as const;

/** OpenAPI of the count. */
const DescribesInputTokens = (): MethodDecorator =>
  describesText({
    ...OF_INPUT,
    description:
      'The model reads the input and draws one token: it is queued and counted like any other request.',
    result: 'Tokens that the input comes to.',
    content: jsonExample({ object: 'response.input_tokens', input_tokens: 11 }),
  });

/** OpenAPI of the compaction. */
const DescribesCompaction = (): MethodDecorator =>
  describesText({
    ...OF_INPUT,
    description:
      'The model sums the conversation up: it is queued and counted like any other request.',
    result:
      'What to send in place of the conversation: its messages but for those of the model, and a summary.',
    content: jsonExample({
      id: 'resp_1',
      object: 'response.compaction',
      output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'switchyard1.SXQ' }],
    }),
  });

/**
 * `/v1/responses`: a dialect of chat, and the store of what was said. As long as no event
 * was sent a failure is a normal error; later ones are the last events of the stream.
 */
@Controller('v1/responses')
@NamesFields(PARAMS_OF_RESPONSE)
export class ResponsesController {
  constructor(
    private readonly generations: TextGenerationService,
    private readonly conversations: Conversations,
    private readonly native: NativeResponses,
    private readonly background: BackgroundResponses,
    private readonly feed: ResponseFeed,
  ) {}

  @Post()
  @DescribesResponses()
  async create(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    if (await this.native.serve(body, reply)) return;
    const turn = await this.conversations.turn(parseResponse, body, reply);
    if (body.fields.generate === false) await this.#prepare(turn);
    else if (turn.request.background) await this.#answerLater(turn);
    else {
      const form = dialectAnswer(this.#dialectOf(turn));
      await this.generations.say(turn, form, turn.request.stream);
    }
  }

  /**
   * Counted by the model itself, which draws one token more: only it knows its template
   * and its tokens.
   */
  @Post('input_tokens')
  @DescribesInputTokens()
  async countInput(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    const turn = await this.conversations.turn(parseInputCount, body, reply);
    await this.generations.answer(turn, answer => ({
      object: 'response.input_tokens',
      input_tokens: usageAmong(piecesOf(answer))?.input_tokens ?? 0,
    }));
  }

  /** The model itself sums the conversation up. */
  @Post('compact')
  @DescribesCompaction()
  async compact(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    const turn = await this.conversations.turn(parseCompaction, body, reply);
    // Without the message that asks for the summary.
    const conversation = turn.conversation.all.slice(0, -1);
    if (conversation.length === 0) throw missingField('input');
    await this.generations.answer(turn, answer =>
      compactionOf(turn.response, conversation, answer),
    );
  }

  /** A response that is answered at once. */
  #dialectOf({ request, response, conversation, caller }: ResponseTurn) {
    const writer = new ResponseWriter(response);
    const finish = this.conversations.finisher(caller.tenant, request, conversation);
    const end = async (): Promise<readonly ResponseEvent[]> => {
      const events = writer.end();
      const fields = await finish(writer.response);
      return events.map(event =>
        'response' in event ? { ...event, response: { ...event.response, ...fields } } : event,
      );
    };
    return {
      frame: eventFrame,
      begin: () => writer.begin(),
      take: piece => writer.take(piece),
      fail: error => writer.fail(error),
      end,
      whole: async () => ((await end()).at(-1) as { response: ResponseObject }).response,
    } satisfies TextDialect<ResponseEvent>;
  }

  /** Nothing is generated: what the response was given can be continued. */
  async #prepare(turn: ResponseTurn): Promise<void> {
    const { caller, generation, ignored, request } = turn;
    demandModel(caller.terms, generation.model.id);
    const dialect = this.#dialectOf(turn);
    const headers = answerHeaders(generation.model.id, { phases: {} }, ignored);
    if (!request.stream) return void caller.reply.headers(headers).send(await dialect.whole());
    const events = [...dialect.begin(), ...(await dialect.end())];
    sendEvents(caller.reply, headers, Readable.from(events.map(eventFrame)));
  }

  async #answerLater(turn: ResponseTurn): Promise<void> {
    const { request, response, caller, generation, ignored } = turn;
    await this.background.start(turn);
    const headers = answerHeaders(generation.model.id, { phases: {} }, ignored);
    if (!request.stream) return void caller.reply.headers(headers).send(response);
    const { tenant } = caller;
    this.feed.send(caller.reply, headers, { tenant, id: response.id });
  }
}
