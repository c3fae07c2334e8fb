import { Readable } from 'node:stream';
import { Controller, Post, Res } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import { writtenVectors } from '../../contracts/formats/generation-body.js';
import { OllamaTransferRequest } from '../../contracts/ollama/model.dto.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { Settings } from '../../platform/config/settings.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { NamesFields } from '../text/param-names.js';
import { dialectAnswer, TextGenerationService } from '../text/text-generation.service.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { OllamaWriter } from './ollama-writer.js';
import { DescribesOllama } from './ollama.openapi.js';
import { PARAMS_OF_OLLAMA, parseEmbed, parseLoad, parseOllama } from './parse-ollama.js';

/**
 * Ollama's API, a dialect of chat, completions and embeddings. As long as no line was sent
 * a failure is a normal error; later ones are the last line.
 */
@Controller('api')
@NamesFields(PARAMS_OF_OLLAMA)
export class OllamaController {
  constructor(
    private readonly generations: TextGenerationService,
    private readonly catalog: ModelCatalog,
    private readonly pool: WorkerPoolService,
    private readonly settings: Settings,
  ) {}

  @Post('chat')
  @DescribesOllama('chat')
  chat(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#generate('chat', fields, reply);
  }

  @Post('generate')
  @DescribesOllama('generate')
  generate(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#generate('generate', fields, reply);
  }

  @Post('embed')
  @DescribesOllama('embed')
  async embed(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    const { model, dto, ignored } = parseEmbed(
      fields,
      this.catalog.usableBy(principalOf(reply.request)),
      this.settings.compat,
    );
    const { input, dimensions } = dto;
    const startMs = performance.now();
    const caller = httpCaller(reply, { tier: 'auto', model });
    const answer = await this.generations.embed(caller, model.id, {
      body: Buffer.from(writeJson({ model: dto.model, input, dimensions })),
      inputs: countInputs(input),
    });
    const { vectors, dimensions: width, usage } = answer.reply;
    const headers = answerHeaders(model.id, answer.timings, ignored);
    const head = {
      model: fields.model,
      total_duration: Math.round((performance.now() - startMs) * 1e6),
      load_duration: 0,
      prompt_eval_count: usage?.promptTokens ?? 0,
    };
    void reply
      .headers(headers)
      .type('application/json; charset=utf-8')
      .send(Readable.from(embedBody(head, vectors, width), { objectMode: false }));
  }

  @Post('pull')
  @DescribesOllama('pull')
  pull(@JsonBody() { fields }: JsonRequest): never {
    const { model = 'NAME' } = parseDto(OllamaTransferRequest, fields);
    throw new DomainError(
      'unsupported_task',
      `Models are added where the gateway runs: switchyard models add ${model}. Names: switchyard models search.`,
    );
  }

  @Post('push')
  @DescribesOllama('push')
  push(@JsonBody() { fields }: JsonRequest): never {
    parseDto(OllamaTransferRequest, fields);
    throw new DomainError(
      'unsupported_task',
      'Models are not published from here; what is served says: switchyard models list.',
    );
  }

  async #generate(form: 'chat' | 'generate', fields: Fields, reply: FastifyReply): Promise<void> {
    const { settings } = this;
    const catalog = this.catalog.usableBy(principalOf(reply.request));
    const writer = new OllamaWriter(form, String(fields.model), fields.think !== false);
    const loaded = parseLoad(form, fields, catalog, settings.compat);
    if (loaded) return this.#load(loaded.model, loaded.ignored, writer, reply);
    const { stream, ...work } = parseOllama(form, fields, catalog, settings.compat);
    const { model } = work.generation;
    const turn = { caller: httpCaller(reply, { tier: 'auto', model }), ...work };
    await this.generations.say(turn, dialectAnswer(writer), stream);
  }

  #load(
    { id }: ModelSpec,
    ignored: readonly string[],
    writer: OllamaWriter,
    reply: FastifyReply,
  ): void {
    this.pool.of(id)?.requestLoad();
    void reply.headers(answerHeaders(id, { phases: {} }, ignored)).send(writer.loaded);
  }
}

async function* embedBody(head: object, vectors: Buffer, width: number): AsyncGenerator<string> {
  let before = `${writeJson(head).slice(0, -1)},"embeddings":[`;
  for await (const written of writtenVectors(vectors, width)) {
    yield before + written;
    before = ',';
  }
  yield ']}';
}
