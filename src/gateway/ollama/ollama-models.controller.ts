import { createHash } from 'node:crypto';
import { Controller, Post, Get } from '@nestjs/common';
import { OllamaShowRequest } from '../../contracts/ollama/model.dto.js';
import { type Principal } from '../../platform/auth/principal.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody, CallerPrincipal } from '../http/params.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { DescribesOllama } from './ollama.openapi.js';
import { servedName } from './parse-ollama.js';

const KINDS: readonly string[] = ['llm', 'embedding'];

/** Capabilities here → Ollama's. */
const CAPABILITIES = {
  chat: 'completion',
  completions: 'completion',
  tools: 'tools',
  embeddings: 'embedding',
} as const;

/** The release of Ollama whose API these routes speak: clients ask for a minimum. */
const OLLAMA_VERSION = '0.9.0';

/** What Ollama tells of its models. Sizes and families are not known here. */
@Controller('api')
export class OllamaModelsController {
  readonly #since = new Date().toISOString();

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly workers: AllWorkers,
  ) {}

  @Get('version')
  @DescribesOllama('version')
  version() {
    return { version: OLLAMA_VERSION };
  }

  @Get('tags')
  @DescribesOllama('tags')
  tags(@CallerPrincipal() caller: Principal) {
    return {
      models: this.#usable(caller).map(([name, spec]) => this.#told(name, spec)),
    };
  }

  /** Models that are loaded. */
  @Get('ps')
  @DescribesOllama('ps')
  loaded(@CallerPrincipal() caller: Principal) {
    const loaded = this.#usable(caller).filter(
      ([name, spec]) => name === spec.id && this.workers.model(spec.id)?.state === 'loaded',
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
  show(@CallerPrincipal() caller: Principal, @JsonBody() { fields }: JsonRequest) {
    const usable = this.catalog.usableBy(caller);
    const model = servedName(fields.model ?? fields.name, usable);
    const dto = parseDto(OllamaShowRequest, { ...fields, model });
    const spec = usable.get(dto.model);
    const told = Object.entries(CAPABILITIES).flatMap(([own, theirs]) =>
      spec.capabilities.includes(own) ? theirs : [],
    );
    return {
      modelfile: '',
      parameters: '',
      template: '',
      model_info: modelInfo(spec),
      details: detailsOf(spec),
      capabilities: [...new Set(told)],
      modified_at: this.#since,
    };
  }

  #usable(caller: Principal) {
    return [...this.catalog.usableBy(caller).byName].filter(([, { kind }]) => KINDS.includes(kind));
  }

  #told(name: string, spec: ModelSpec) {
    return {
      name,
      model: name,
      size: 0,
      details: detailsOf(spec),
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

/** What clients read of a GGUF file; the length of the context as far as it is configured. */
const modelInfo = ({ id, engine, options }: ModelSpec) => ({
  'general.architecture': engine,
  'general.basename': id,
  ...(typeof options.contextTokens === 'number' && {
    [`${engine}.context_length`]: options.contextTokens,
  }),
});
