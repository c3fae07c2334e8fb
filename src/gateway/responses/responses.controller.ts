import { Readable } from 'node:stream';
import { Controller, Post, Res } from '@nestjs/common';
import { missingField } from '@switchyard/engine-api/field-problems.js';
import { type FastifyReply } from 'fastify';
import { type ResponseEvent, type ResponseObject } from '../../contracts/openai/responses.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { sendEvents } from '../inference/output-stream.js';
import { answerHeaders } from '../latency/answer-headers.js';
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
import {
  DescribesResponses,
  DescribesInputTokens,
  DescribesCompaction,
} from './responses.openapi.js';
import { Conversations, type ResponseTurn } from './stored/conversations.js';
import { eventFrame, ResponseFeed } from './stored/response-feed.js';
import { PARAMS_OF_RESPONSE } from './writer/response-generation.js';
import { ResponseWriter } from './writer/response-writer.js';

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
