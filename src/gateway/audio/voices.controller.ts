import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { VoiceListDto } from '../../contracts/openai/voice.dto.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { demandModel, mayUse } from '../../platform/auth/principal.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { summaryOf } from '../http/openapi/route.decorator.js';
import { ModelCatalog } from '../models/model-catalog.js';

@ApiTags('audio')
@Controller('v1/audio/voices')
export class VoicesController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Get()
  @ApiOperation({ summary: summaryOf('GET', '/v1/audio/voices') })
  @ApiQuery({ name: 'model', required: false, description: 'A model id or alias; absent: all speech models.' })
  @ApiOkResponse({ type: VoiceListDto })
  @DescribesErrors('invalid_value', 'model_not_found', 'model_kind_mismatch')
  list(@Query('model') model: unknown, @Req() request: FastifyRequest): VoiceListDto {
    const { terms } = principalOf(request);
    const models = model === undefined ? this.catalog.all().filter(({ kind }) => kind === 'tts') : [this.#named(model)];
    if (model !== undefined) demandModel(terms, models[0]!.id);
    const voices = models
      .filter(({ id }) => mayUse(terms, id))
      .flatMap(({ id, voices: own }) => Object.keys(own).map(name => ({ id: name, name, model: id })));
    return { voices };
  }

  #named(model: unknown) {
    if (typeof model === 'string') return this.catalog.getOfKind(model, 'tts');
    throw new DomainError('invalid_value', '`model` must be sent once.', { param: 'model' });
  }
}
