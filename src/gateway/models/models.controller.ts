import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Principal } from '../../platform/auth/principal.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { CallerPrincipal } from '../http/params.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { ModelDto, ModelListDto } from './dto/model.dto.js';
import { MessagesModelsInterceptor } from './messages-models.interceptor.js';
import { ModelCatalog } from './model-catalog.js';

@Controller('v1/models')
@UseInterceptors(MessagesModelsInterceptor)
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
  list(@CallerPrincipal() caller: Principal) {
    const usable = [...this.catalog.usableBy(caller).byName];
    return {
      object: 'list',
      data: usable.map(([name, spec]) => this.#describe(name, spec)),
    };
  }

  @Get(':id')
  @ApiParam({ name: 'id', example: 'whisper-1' })
  @Answers(ModelDto)
  @DescribesErrors('model_not_found')
  retrieve(@CallerPrincipal() caller: Principal, @Param('id') id: string) {
    return this.#describe(id, this.catalog.usableBy(caller).get(id));
  }

  #describe(name: string, spec: ModelSpec): ModelDto {
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
