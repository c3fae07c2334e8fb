import { Controller, Inject, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type ResponseObject } from '../../contracts/openai/responses.js';
import { missingField } from '../../contracts/schema/field-problems.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { Conversations, type ResponseTurn } from './conversations.js';
import { piecesOf } from '../text/generation-pieces.js';
import { NativeResponses } from './native-responses.js';
import { compactionOf } from './compaction.js';
import { parseCompaction, parseInputCount, parseResponse } from './parse-response.js';
import { inWordsOfResponses } from './response-generation.js';
import { nowS } from './response-object.js';
import { BackgroundResponses } from './background-responses.js';
import { ResponseFeed } from './response-feed.js';
import { followEvents, ResponseStream } from './response-stream.js';
import { ResponseWriter } from './response-writer.js';
import {
  DescribesCompaction,
  DescribesInputTokens,
  DescribesResponses,
} from './responses.openapi.js';

/**
 * `/v1/responses`: a dialect of chat, and the store of what was said. As long as no event
 * was sent a failure is a normal error; later ones are the last events of the stream.
 */
@Controller('v1/responses')
export class ResponsesController {
  constructor(
    private readonly generations: TextGenerationService,
    private readonly conversations: Conversations,
    private readonly native: NativeResponses,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly background: BackgroundResponses,
    private readonly feed: ResponseFeed,
  ) {}

  @Post()
  @DescribesResponses()
  async create(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    if (await this.native.serve(body, reply)) return;
    try {
      const turn = await this.conversations.turn(parseResponse, body, reply);
      if (turn.request.background) await this.#answerLater(turn);
      else await this.#answer(turn);
    } catch (error) {
      throw inWordsOfResponses(error);
    }
  }

  /**
   * Counted by the model itself, which draws one token more: only it knows its template
   * and its tokens.
   */
  @Post('input_tokens')
  @DescribesInputTokens()
  async countInput(
    @JsonBody() body: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    try {
      const { caller, generation, response, ignored } = await this.conversations.turn(
        parseInputCount,
        body,
        reply,
      );
      const answer = await this.generations
        .start(caller, generation)
        .answer('generation');
      const { usage } = saidIn(answer.reply.answer, response).response;
      void reply
        .headers(answerHeaders(generation.model.id, answer.timings, ignored))
        .send({
          object: 'response.input_tokens',
          input_tokens: usage?.input_tokens ?? 0,
        });
    } catch (error) {
      throw inWordsOfResponses(error);
    }
  }

  /** The model itself sums the conversation up. */
  @Post('compact')
  @DescribesCompaction()
  async compact(
    @JsonBody() body: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    try {
      const turn = await this.conversations.turn(parseCompaction, body, reply);
      // Without the message that asks for the summary.
      const conversation = turn.conversation.all.slice(0, -1);
      if (conversation.length === 0) throw missingField('input');
      await this.generations.answer(turn, answer => {
        const writer = saidIn(answer, turn.response);
        writer.end(nowS());
        return compactionOf(writer.response, conversation);
      });
    } catch (error) {
      throw inWordsOfResponses(error);
    }
  }

  #answer(turn: ResponseTurn): Promise<void> {
    const { request, response, conversation, caller } = turn;
    const finish = this.conversations.finisher(caller.tenant, request, conversation);
    if (!request.stream)
      return this.generations.answer(turn, async answer => {
        const writer = saidIn(answer, response);
        writer.end(nowS());
        return { ...writer.response, ...(await finish(writer.response)) };
      });
    const { maxBufferedBytes } = this.settings.generation;
    const writer = new ResponseWriter(response);
    return this.generations.stream(
      turn,
      new ResponseStream(maxBufferedBytes, writer, finish),
    );
  }

  async #answerLater(turn: ResponseTurn): Promise<void> {
    const { request, response, caller, generation, ignored } = turn;
    await this.background.start(turn);
    const headers = answerHeaders(generation.model.id, { phases: {} }, ignored);
    if (!request.stream) return void caller.reply.headers(headers).send(response);
    followEvents(caller.reply, headers, signal =>
      this.feed.follow({ tenant: caller.tenant, id: response.id }, -1, signal),
    );
  }
}

/** The response with all that an answer says, which has not ended. */
function saidIn(answer: Buffer, response: ResponseObject): ResponseWriter {
  const writer = new ResponseWriter(response);
  for (const piece of piecesOf(answer)) writer.take(piece);
  return writer;
}
