import { Get, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { AdminModelChangesDto } from './dto/admin-model-changes.dto.js';
import { AdminModelDto, AdminModelListDto, adminModelDto } from './dto/admin-model.dto.js';
import { ModelSwitch } from './model-switch.js';

/** Models: their state, load and unload. */
@AdminController('models')
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
  @ApiParam({ name: 'id', example: 'moonshine-tiny-en' })
  @ApiOperation({
    description: 'Returns at once; GET shows when it is loaded.',
  })
  @Answers(AdminModelDto)
  @DescribesErrors('model_not_found', 'worker_not_supervised')
  load(@Param('id') id: string) {
    return adminModelDto(this.models.load(id));
  }

  @Post(':id/unload')
  @ApiParam({ name: 'id', example: 'moonshine-tiny-en' })
  @ApiOperation({
    description:
      'Returns at once; running requests finish. Waiting and new ones get 503 `model_unloaded`, or start the model ' +
      'again with `autostart: on_request`.',
  })
  @Answers(AdminModelDto)
  @DescribesErrors('model_not_found', 'worker_not_supervised')
  async unload(@Param('id') id: string) {
    return adminModelDto(await this.models.unload(id));
  }
}
