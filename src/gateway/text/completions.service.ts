import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { withJsonFields } from '../../contracts/formats/json-fields.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { type JsonRequest } from '../http/json-body.js';
import {
  httpCaller,
  type InferenceCaller,
  type InferenceRequest,
} from '../inference/inference.service.js';
import { usedTier } from '../inference/request-priority.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { sendEvents } from './generation-output-stream.js';
import { GenerationStream } from './generation-stream.js';
import { parseChat, parseCompletion, type ParsedGeneration } from './parse-generation.js';
import { TextGenerationService } from './text-generation.service.js';

const PARSERS = { chat: parseChat, completions: parseCompletion } as const;

interface GenerationCall {
  readonly params: ParsedGeneration;
  readonly caller: InferenceCaller;
  readonly bytes: Buffer;
  readonly reply: FastifyReply;
  /** Set in the answer by the gateway; the rest of it is the engine's. */
  readonly fields: { readonly model: string; readonly service_tier: string };
}

/** Chat and completions: the text is sent while the worker still makes it. */
@Injectable()
export class CompletionsService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generation: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @throws DomainError as long as no chunk was sent; later failures are the last event
   *   of the stream.
   */
  async serve(
    route: keyof typeof PARSERS,
    { fields: sent, bytes }: JsonRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const params = PARSERS[route](sent, this.catalog, this.settings.compat);
    const { service_tier: tier, stream } = params.dto;
    const caller = httpCaller(reply, { tier, model: params.model });
    const fields = {
      model: params.model.id,
      service_tier: usedTier(caller.priority, tier),
    };
    const call = { params, caller, bytes, reply, fields };
    await (stream ? this.#answerInChunks(call) : this.#answerAsAWhole(call));
  }

  async #answerAsAWhole(call: GenerationCall): Promise<void> {
    const { reply, timings } = await this.#start(call).answer('generation');
    void call.reply
      .headers(
        answerHeaders(
          call.fields.model,
          { ...timings, usage: reply.usage },
          call.params.ignored,
        ),
      )
      .type('application/json; charset=utf-8')
      .send(withJsonFields(reply.answer, call.fields));
  }

  /**
   * Until the first chunk a failure is a normal error. The headers hold only what is
   * known by then.
   */
  async #answerInChunks(call: GenerationCall): Promise<void> {
    const { reply, fields, params } = call;
    const output = new GenerationStream(
      this.settings.generation.maxBufferedBytes,
      fields,
    );
    const { phases, firstOutputMs } = await this.#start(call, output).firstOutput();
    const headers = answerHeaders(
      fields.model,
      { phases, ttftMs: firstOutputMs },
      params.ignored,
    );
    sendEvents(reply, headers, output.chunks);
  }

  #start(
    { params, caller, bytes }: GenerationCall,
    output?: GenerationStream,
  ): InferenceRequest {
    return this.generation.start(caller, { ...params, body: bytes }, output);
  }
}
