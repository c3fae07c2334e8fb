import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { AUTOSTARTS } from '../../platform/config/model-spec.js';
import {
  choiceField,
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  unixSeconds,
  answer,
} from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { MODEL_STATES, type ModelView } from '../worker-pool/worker-view.js';
import { ModelSwitch } from './model-switch.js';
import { WorkerDto, workerDto } from './workers.controller.js';

class AdminModelDto extends answer({
  id: textField({ example: 'pocketsphinx-en' }),
  state: choiceField(
    MODEL_STATES,
    'failed: each worker has ended, cannot be reached or is drained.',
  ),
  reason: optionalField(textField('Why it has failed.')),
  autostart: choiceField(AUTOSTARTS),
  starts_on_request: flagField('While it is unloaded, the next request starts it.'),
  idle_unload_s: optionalField(numberField('Seconds without work until it is unloaded.')),
  running: numberField('Requests and live streams that its workers have now.'),
  last_used: numberField('Unix seconds at which it was last needed, or made ready to be.'),
  workers: listField(WorkerDto),
}) {}

class AdminModelListDto extends answer({ data: listField(AdminModelDto) }) {}

class AdminModelChangesDto extends answer({
  added: listField(String),
  changed: listField(String, 'Computed by new workers once the old ones have ended their work.'),
  removed: listField(String),
}) {}

const adminModelDto = (model: ModelView): AdminModelDto => ({
  id: model.id,
  state: model.state,
  reason: model.reason,
  autostart: model.autostart,
  starts_on_request: model.startsOnRequest,
  idle_unload_s: model.idleUnloadS,
  running: model.running,
  last_used: unixSeconds(Date.now() - model.idleMs),
  workers: model.workers.map(workerDto),
});

/** Models: their state, load and unload. */
@Controller('admin/v1/models')
export class AdminModelsController {
  constructor(
    private readonly pool: WorkerPoolService,
    private readonly models: ModelSwitch,
  ) {}

  @Get()
  @Answers(AdminModelListDto)
  list() {
    return { data: this.pool.models().map(adminModelDto) };
  }

  @Post('reload')
  @ApiOperation({
    description:
      'Adds, replaces and removes models without a restart; a file with errors changes nothing. Running requests ' +
      'finish; requests that wait for a removed model get 503 `model_unloaded`.',
  })
  @Answers(AdminModelChangesDto)
  @DescribesErrors('models_file_invalid')
  async reload() {
    return this.models.reload();
  }

  @Post(':id/load')
  @ApiParam({ name: 'id', example: 'pocketsphinx-en' })
  @ApiOperation({
    description: 'Returns at once; GET shows when it is loaded.',
  })
  @Answers(AdminModelDto)
  @DescribesErrors('model_not_found')
  load(@Param('id') id: string) {
    return adminModelDto(this.models.load(id));
  }

  @Post(':id/unload')
  @ApiParam({ name: 'id', example: 'pocketsphinx-en' })
  @ApiOperation({
    description:
      'Returns at once; running requests finish. Waiting and new ones get 503 `model_unloaded`, or start the model ' +
      'again with `autostart: on_request`.',
  })
  @Answers(AdminModelDto)
  @DescribesErrors('model_not_found')
  async unload(@Param('id') id: string) {
    return adminModelDto(await this.models.unload(id));
  }
}
