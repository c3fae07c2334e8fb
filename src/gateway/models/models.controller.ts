import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { demandModel, mayUse } from '../../platform/auth/principal.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { ModelDto, ModelListDto } from '../../contracts/openai/model.dto.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { type CatalogEntry, ModelCatalog } from './model-catalog.js';

@ApiTags('models')
@Controller('v1/models')
export class ModelsController {
  /** Models have no birthday here; the moment they were put on offer is the closest there is. */
  readonly #created = Math.floor(Date.now() / 1000);

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly workers: AllWorkers,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Models and their aliases' })
  @ApiOkResponse({ type: ModelListDto })
  list(@Req() request: FastifyRequest): ModelListDto {
    const { terms } = principalOf(request);
    const usable = this.catalog.entries().filter(({ spec }) => mayUse(terms, spec.id));
    return { object: 'list', data: usable.map(entry => this.#describe(entry)) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One model, by id or alias' })
  @ApiParam({ name: 'id', example: 'whisper-1' })
  @ApiOkResponse({ type: ModelDto })
  @DescribesErrors('model_not_found')
  retrieve(@Param('id') id: string, @Req() request: FastifyRequest): ModelDto {
    const spec = this.catalog.get(id);
    demandModel(principalOf(request).terms, spec.id);
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
