import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { DescribesErrors } from '../http/openapi/errors.decorator.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { AdminModelDto, adminModelDto, AdminModelListDto } from './model.dto.js';
import { ModelSwitch } from './model-switch.js';

/** What is loaded, and what shall be. */
@ApiTags('admin')
@Controller('admin/v1/models')
export class AdminModelsController {
  constructor(
    private readonly pool: WorkerPoolService,
    private readonly models: ModelSwitch,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Models: loaded or not, their workers, when last used' })
  @ApiOkResponse({ type: AdminModelListDto })
  list(): AdminModelListDto {
    return { data: this.pool.models().map(model => adminModelDto(model, Date.now())) };
  }

  @Post(':id/load')
  @HttpCode(200)
  @ApiParam({ name: 'id', example: 'pocketsphinx-en' })
  @ApiOperation({
    summary: 'Start the workers of a model',
    description: 'Answers at once; GET shows when it is loaded.',
  })
  @ApiOkResponse({ type: AdminModelDto })
  @DescribesErrors('model_not_found')
  load(@Param('id') id: string): AdminModelDto {
    return adminModelDto(this.models.load(id), Date.now());
  }

  @Post(':id/unload')
  @HttpCode(200)
  @ApiParam({ name: 'id', example: 'pocketsphinx-en' })
  @ApiOperation({
    summary: 'Stop the workers of a model',
    description:
      'Answers at once; running requests finish. Waiting and new ones get 503 `model_unloaded`, or start it again with `autostart: on_request`.',
  })
  @ApiOkResponse({ type: AdminModelDto })
  @DescribesErrors('model_not_found')
  async unload(@Param('id') id: string): Promise<AdminModelDto> {
    return adminModelDto(await this.models.unload(id), Date.now());
  }
}
