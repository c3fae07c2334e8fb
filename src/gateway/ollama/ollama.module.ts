import {
  Module,
  Controller,
  Post,
  Res,
  Get,
  applyDecorators,
  HttpCode,
  type Type,
} from '@nestjs/common';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { TextModule } from '../text/text.module.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import {
  OllamaChatRequest,
  OllamaEmbedRequest,
  OllamaGenerateRequest,
  type OllamaModelFields,
  OllamaTransferRequest,
  OllamaShowRequest,
} from '../../contracts/ollama/ollama.dto.js';
import { IgnoredFields } from '../../contracts/openai/field-types.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { demandModel, mayUse, type Principal } from '../../platform/auth/principal.js';
import { Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody, CallerPrincipal } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { type Strictness } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { parseEmbedding } from '../text/completions.controller.js';
import { translated } from '../text/chat-body.js';
import { NamesFields } from '../text/param-names.js';
import { parseChat, parseCompletion } from '../text/parse-generation.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { chatOfOllama, PARAMS_OF_OLLAMA, promptOfOllama } from './chat-of-ollama.js';
import { type OllamaForm, OllamaWriter } from './ollama-writer.js';
import { createHash } from 'node:crypto';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { productVersion } from '../../platform/process/product-version.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';

interface Route {
  readonly body?: Type;
  readonly description?: string;
  readonly example?: object;
  /** It queues work. */
  readonly isWork?: true;
}

const LINES =
  'Without `stream: false` the answer is lines of JSON (`application/x-ndjson`); a failure after the first line is ' +
  'a line with `error`. Until the first token comes, waiting and reading the prompt count as `prompt_eval_duration`.';
const COUNTS = { prompt_eval_count: 14, eval_count: 3 };
const done = { model: 'qwen3-8b', created_at: '2026-11-27T09:00:00.000Z', done: true };

const ROUTES = {
  chat: {
    body: OllamaChatRequest,
    description: LINES,
    example: { ...done, message: { role: 'assistant', content: 'It sorts.' }, ...COUNTS },
    isWork: true,
  },
  generate: {
    body: OllamaGenerateRequest,
    description: LINES,
    example: { ...done, response: 'It sorts.', ...COUNTS },
    isWork: true,
  },
  embed: {
    body: OllamaEmbedRequest,
    example: { model: 'bge-m3', embeddings: [[0.6, -0.8]], prompt_eval_count: 4 },
    isWork: true,
  },
  show: {
    body: OllamaShowRequest,
    example: { details: { format: 'gguf' }, capabilities: ['completion', 'tools'] },
  },
  pull: { body: OllamaTransferRequest, description: 'Refused, with the command.' },
  push: { body: OllamaTransferRequest, description: 'Refused.' },
  version: { example: { version: '0.1.0' } },
  tags: { example: { models: [{ name: 'qwen3-8b', model: 'qwen3-8b' }] } },
  ps: { example: { models: [{ name: 'qwen3-8b', model: 'qwen3-8b' }] } },
} as const satisfies Record<string, Route>;

/** OpenAPI of a route of Ollama. */
function DescribesOllama(name: keyof typeof ROUTES): MethodDecorator {
  const { body, description = '', example = {}, isWork }: Route = ROUTES[name];
  return applyDecorators(
    HttpCode(200),
    ApiOperation({ description }),
    ...(body ? [ApiConsumes('application/json'), ApiBody({ type: body })] : []),
    ...(isWork ? [DescribesRequestHeaders()] : []),
    ApiOkResponse({
      content: { 'application/json': { schema: { type: 'object' }, example } },
    }),
    ...(body
      ? [DescribesErrors('invalid_json', 'unsupported_task', ...FIELD_ERRORS)]
      : []),
    ...(isWork ? [DescribesErrors(...QUEUE_ERRORS)] : []),
  );
}

/** Clients add `:latest` to names without a tag. */
function servedName(name: unknown, catalog: ModelCatalog): unknown {
  if (typeof name !== 'string' || !name.endsWith(':latest')) return name;
  const isKnown = catalog.byName.has(name);
  return isKnown ? name : name.slice(0, -':latest'.length);
}

const KINDS: readonly string[] = ['llm', 'embedding'];

/** Capabilities here → Ollama's. */
const CAPABILITIES = {
  chat: 'completion',
  completions: 'completion',
  tools: 'tools',
  embeddings: 'embedding',
} as const;

/** What Ollama tells of its models. Sizes and families are not known here. */
@Controller('api')
class OllamaModelsController {
  readonly #since = new Date().toISOString();
  readonly #version = productVersion();

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly workers: AllWorkers,
  ) {}

  @Get('version')
  @DescribesOllama('version')
  version() {
    return { version: this.#version };
  }

  @Get('tags')
  @DescribesOllama('tags')
  tags(@CallerPrincipal() { terms }: Principal) {
    return {
      models: this.#usable(terms).map(([name, spec]) => this.#told(name, spec)),
    };
  }

  /** Models that are loaded, which stay so. */
  @Get('ps')
  @DescribesOllama('ps')
  loaded(@CallerPrincipal() { terms }: Principal) {
    const loaded = this.#usable(terms).filter(
      ([name, spec]) =>
        name === spec.id && this.workers.model(spec.id)?.state === 'loaded',
    );
    const models = loaded.map(([name, spec]) => ({
      ...this.#told(name, spec),
      expires_at: '0001-01-01T00:00:00Z',
      size_vram: 0,
    }));
    return { models };
  }

  @Post('show')
  @DescribesOllama('show')
  show(@CallerPrincipal() { terms }: Principal, @JsonBody() { fields }: JsonRequest) {
    const model = servedName(fields.model ?? fields.name, this.catalog);
    const dto = parseDto(OllamaShowRequest, { ...fields, model });
    const spec = this.catalog.get(dto.model);
    demandModel(terms, spec.id);
    const told = Object.entries(CAPABILITIES).flatMap(([own, theirs]) =>
      spec.capabilities.includes(own) ? theirs : [],
    );
    return {
      ...{ modelfile: '', parameters: '', template: '', model_info: {} },
      details: detailsOf(spec),
      capabilities: [...new Set(told)],
      modified_at: this.#since,
    };
  }

  #usable(terms: Principal['terms']) {
    return [...this.catalog.byName].filter(
      ([, spec]) => KINDS.includes(spec.kind) && mayUse(terms, spec.id),
    );
  }

  #told(name: string, spec: ModelSpec) {
    return {
      ...{ name, model: name, size: 0, details: detailsOf(spec) },
      modified_at: this.#since,
      digest: createHash('sha256').update(spec.id).digest('hex'),
    };
  }
}

const detailsOf = ({ engine }: ModelSpec) => ({
  parent_model: '',
  format: engine === 'llama-cpp' ? 'gguf' : '',
  family: engine,
  families: [engine],
  parameter_size: '',
  quantization_level: '',
});

const FORMS = {
  chat: { type: OllamaChatRequest, rules: rulesOf(OllamaChatRequest) },
  generate: { type: OllamaGenerateRequest, rules: rulesOf(OllamaGenerateRequest) },
} as const;

const EMBED_RULES = rulesOf(OllamaEmbedRequest);

/** @throws DomainError for the first thing wrong with the body */
function parseOllama(
  form: OllamaForm,
  fields: Fields,
  catalog: ModelCatalog,
  compat: Strictness,
) {
  const body = { ...fields, model: servedName(fields.model, catalog) };
  const ignored = new IgnoredFields(compat.strict);
  ignored.settle(FORMS[form].rules, body);
  const dto = parseDto<OllamaChatRequest | OllamaGenerateRequest>(FORMS[form].type, body);
  const asked =
    dto instanceof OllamaChatRequest
      ? chatOfOllama(dto, body, ignored)
      : promptOfOllama(dto, body, ignored);
  const parse = 'prompt' in asked ? parseCompletion : parseChat;
  return { stream: dto.stream, ...translated(asked, ignored, catalog, compat, parse) };
}

/**
 * Ollama's API, a dialect of chat, completions and embeddings. As long as no line was sent
 * a failure is a normal error; later ones are the last line.
 */
@Controller('api')
@NamesFields(PARAMS_OF_OLLAMA)
class OllamaController {
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
  generate(
    @JsonBody() { fields }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.#generate('generate', fields, reply);
  }

  @Post('embed')
  @DescribesOllama('embed')
  async embed(
    @JsonBody() { fields }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { catalog, settings } = this;
    const { compat } = settings;
    const body = { ...fields, model: servedName(fields.model, catalog) };
    const ignored = new IgnoredFields(compat.strict);
    ignored.settle(EMBED_RULES, body);
    const { model: name, input, dimensions } = parseDto(OllamaEmbedRequest, body);
    const asked = { model: name, input, ...(dimensions !== undefined && { dimensions }) };
    const parsed = parseEmbedding(asked, catalog, compat);
    const { id: model } = parsed.model;
    const startMs = performance.now();
    const caller = httpCaller(reply, { tier: 'auto', model: parsed.model });
    const answer = await this.generations.embed(caller, model, {
      body: Buffer.from(JSON.stringify(asked)),
      inputs: [input].flat().length,
    });
    const { vectors, dimensions: width, usage } = answer.reply;
    const headers = answerHeaders(model, answer.timings, [
      ...ignored.paths,
      ...parsed.ignored,
    ]);
    void reply.headers(headers).send({
      model: fields.model,
      embeddings: rowsOf(vectors, width),
      total_duration: Math.round((performance.now() - startMs) * 1e6),
      load_duration: 0,
      prompt_eval_count: usage?.promptTokens ?? 0,
    });
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

  async #generate(form: OllamaForm, fields: Fields, reply: FastifyReply): Promise<void> {
    const { catalog, settings } = this;
    if (asksForNothing(form, fields)) return this.#load(form, fields, reply);
    const { stream, ...work } = parseOllama(form, fields, catalog, settings.compat);
    const { model } = work.generation;
    const turn = { caller: httpCaller(reply, { tier: 'auto', model }), ...work };
    const writer = new OllamaWriter(form, String(fields.model));
    await this.generations.say(turn, writer, stream);
  }

  #load(form: OllamaForm, fields: Fields, reply: FastifyReply): void {
    const { rules, type } = FORMS[form];
    const ignored = new IgnoredFields(this.settings.compat.strict);
    const body = { ...fields, model: servedName(fields.model, this.catalog) };
    ignored.settle(rules, body);
    const dto = parseDto<OllamaModelFields>(type, { messages: [], ...body });
    const model = this.catalog.getOfKind(dto.model, 'llm');
    demandModel(principalOf(reply.request).terms, model.id);
    this.pool.demand(model.id);
    const headers = answerHeaders(model.id, { phases: {} }, ignored.paths);
    void reply.headers(headers).send(new OllamaWriter(form, String(fields.model)).loaded);
  }
}

/** How clients of Ollama load a model: nothing is to be answered. */
const asksForNothing = (
  form: OllamaForm,
  { messages, prompt, images }: Fields,
): boolean =>
  form === 'chat'
    ? Array.isArray(messages ?? []) && !(messages as unknown[] | undefined)?.length
    : (prompt ?? '') === '' && images === undefined;

/** Vectors of 32-bit floats, one after another. */
function rowsOf(vectors: Buffer, width: number): readonly number[][] {
  const count = width === 0 ? 0 : vectors.length / (4 * width);
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: width }, (_, at) => vectors.readFloatLE(4 * (row * width + at))),
  );
}

/** Ollama's API, a dialect of chat, completions and embeddings. */
@Module({
  imports: [InferenceModule, ModelsModule, SchedulerModule, TextModule, WorkerPoolModule],
  controllers: [OllamaController, OllamaModelsController],
})
export class OllamaModule {}
