import { Controller, Get, Query } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type Principal } from '../../platform/auth/principal.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { CallerPrincipal } from '../http/params.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { VoiceListDto } from './dto/voices.dto.js';

@Controller('v1/audio/voices')
export class VoicesController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Get()
  @ApiQuery({
    name: 'model',
    required: false,
    description: 'A model id or alias; absent: all speech models.',
  })
  @Answers(VoiceListDto)
  @DescribesErrors('invalid_value', 'model_not_found', 'model_kind_mismatch')
  list(@CallerPrincipal() caller: Principal, @Query('model') model: unknown) {
    const usable = this.catalog.usableBy(caller);
    const models =
      model === undefined
        ? usable.all().filter(({ kind }) => kind === 'tts')
        : [named(model, usable)];
    const voices = models.flatMap(({ id, voices: own }) =>
      Object.keys(own).map(name => ({ id: name, name, model: id })),
    );
    return { voices };
  }
}

function named(model: unknown, usable: ModelCatalog) {
  if (typeof model === 'string') return usable.getOfKind(model, 'tts');
  throw invalidField('model', '`model` must be sent once.');
}
