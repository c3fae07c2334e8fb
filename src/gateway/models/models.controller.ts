import { Controller, Get, Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Answers } from '../http/openapi/route.decorator.js';
import { CallerPrincipal } from '../http/params.js';
import { demandModel, mayUse, type Principal } from '../../platform/auth/principal.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { ModelDto, ModelListDto } from '../../contracts/openai/model.dto.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { type CatalogEntry, ModelCatalog } from './model-catalog.js';

@Controller('v1/models')
export class ModelsController {
  /**
   * Models have no birthday here; the moment they were put on offer is the
   * closest there is.
   */
  readonly #created = Math.floor(Date.now() / 1000);

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly workers: AllWorkers,
  ) {}

  @Get()
  @Answers(ModelListDto)
  list(@CallerPrincipal() { terms }: Principal) {
    const usable = this.catalog.entries().filter(({ spec }) => mayUse(terms, spec.id));
    return { object: 'list' as const, data: usable.map(entry => this.#describe(entry)) };
  }

  @Get(':id')
  @ApiParam({ name: 'id', example: 'whisper-1' })
  @Answers(ModelDto)
  @DescribesErrors('model_not_found')
  retrieve(@CallerPrincipal() { terms }: Principal, @Param('id') id: string) {
    const spec = this.catalog.get(id);
    demandModel(terms, spec.id);
    return this.#describe({ name: id, spec });
  }

  #describe({ name, spec }: CatalogEntry): ModelDto {
    return {
      id: name,
      object: 'model',
      created: this.#created,
      owned_by: 'switchyard',
      root: spec.id,
      kind: spec.kind,
      state: this.workers.model(spec.id)?.state ?? 'unloaded',
      capabilities: spec.capabilities,
      languages: spec.languages,
      voices: Object.keys(spec.voices),
    };
  }
}
