import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { withJsonFields } from '../../contracts/formats/json-fields.js';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { ResponseDto } from '../../contracts/openai/response.dto.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { parseDto } from '../http/dto-validation.js';
import { bodyObject, rawBodyOf } from '../http/json-body.js';
import { httpCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/request-priority.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { NativeStream } from './native-stream.js';

/** Characters that tell conversations apart. */
const IDENTIFYING_CHARACTERS = 512;

/**
 * Requests that a server behind a model answers by itself, by the capability `responses`: they go there as they came
 * but for `model` and `store`, fields that are unknown here included. What needs the store is answered here.
 */
@Injectable()
export class NativeResponses {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @param stores whether a request that does not say is stored
   * @returns false: it is not such a request, and nothing was done
   * @throws DomainError as long as nothing was sent
   */
  async serve(request: FastifyRequest, reply: FastifyReply, stores: boolean): Promise<boolean> {
    if (!this.catalog.all().some(({ capabilities }) => capabilities.includes('responses'))) return false;
    const dto = parseDto(ResponseDto, bodyObject(request));
    const model = this.catalog.getOfKind(dto.model, 'llm');
    if (!model.capabilities.includes('responses') || needsStore(dto, stores)) return false;
    const caller = httpCaller(request, reply, { tier: dto.service_tier, model });
    const task = { form: 'response', maxTokens: dto.max_output_tokens ?? 0, n: 1 } as const;
    const body = withJsonFields(rawBodyOf(request), { store: false });
    const generation = { model, task, beginning: beginningOf(dto), body };
    const fields = { model: model.id, service_tier: usedTier(caller.priority, dto.service_tier) };
    if (!dto.stream) {
      const { reply: whole, timings } = await this.generations.start(caller, generation).answer('generation');
      const headers = answerHeaders(model.id, { ...timings, usage: whole.usage });
      void reply.headers(headers).type('application/json; charset=utf-8').send(withJsonFields(whole.answer, fields));
      return true;
    }
    const output = new NativeStream(this.settings.generation.maxBufferedBytes, fields);
    const { phases, firstOutputMs } = await this.generations.start(caller, generation, output).firstOutput();
    void reply
      .headers({ ...answerHeaders(model.id, { phases, ttftMs: firstOutputMs }), 'cache-control': 'no-cache' })
      .header('x-accel-buffering', 'no')
      .type(SSE_CONTENT_TYPE)
      .send(output.chunks);
    return true;
  }
}

const needsStore = ({ store, background, previous_response_id, input }: ResponseDto, stores: boolean): boolean =>
  (store ?? stores) || background || previous_response_id !== undefined || refersToItems(input);

const refersToItems = (input: unknown): boolean =>
  Array.isArray(input) && input.some(item => (item as { type?: unknown } | null)?.type === 'item_reference');

function beginningOf({ instructions = '', input }: ResponseDto): string {
  const first: unknown = Array.isArray(input) ? input[0] : input;
  return (instructions + JSON.stringify(first ?? '')).slice(0, IDENTIFYING_CHARACTERS);
}
