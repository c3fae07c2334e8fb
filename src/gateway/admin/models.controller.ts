import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { AUTOSTARTS } from '../../platform/config/model-spec.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { MODEL_STATES, type ModelView } from '../worker-pool/worker-view.js';
import { ModelSwitch } from './model-switch.js';
import { WorkerDto, workerDto } from './workers.controller.js';

export class AdminModelDto {
  @ApiProperty({ example: 'pocketsphinx-en' }) id!: string;
  @ApiProperty({ enum: MODEL_STATES, description: 'failed: each worker has ended, cannot be reached or is drained.' })
  state!: string;
  @ApiPropertyOptional({ description: 'Why it has failed.' }) reason?: string;
  @ApiProperty({ enum: AUTOSTARTS }) autostart!: string;
  @ApiProperty({ description: 'While it is unloaded, the next request starts it.' }) starts_on_request!: boolean;
  @ApiPropertyOptional({ description: 'Seconds without work until it is unloaded.' }) idle_unload_s?: number;
  @ApiProperty({ description: 'Requests and live streams that its workers have now.' }) running!: number;
  @ApiProperty({ description: 'Unix seconds at which it was last needed, or made ready to be.' }) last_used!: number;
  @ApiProperty({ type: [WorkerDto] }) workers!: WorkerDto[];
}

export class AdminModelListDto {
  @ApiProperty({ type: [AdminModelDto] }) data!: AdminModelDto[];
}

export class AdminModelChangesDto {
  @ApiProperty({ type: [String] }) added!: readonly string[];
  @ApiProperty({ type: [String], description: 'Computed by new workers once the old ones have ended their work.' })
  changed!: readonly string[];
  @ApiProperty({ type: [String] }) removed!: readonly string[];
}

/** @param nowMs wall clock, Unix milliseconds */
export const adminModelDto = (view: ModelView, nowMs: number): AdminModelDto => ({
  id: view.id,
  state: view.state,
  ...(view.reason !== undefined && { reason: view.reason }),
  autostart: view.autostart,
  starts_on_request: view.startsOnRequest,
  ...(view.idleUnloadS !== undefined && { idle_unload_s: view.idleUnloadS }),
  running: view.running,
  last_used: Math.floor((nowMs - view.idleMs) / 1000),
  workers: view.workers.map(workerDto),
});

/** Models: their state, load and unload. */
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

  @Post('reload')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Serve the models file as it is now',
    description:
      'Adds, replaces and removes models without a restart; a file with errors changes nothing. Running requests ' +
      'finish; requests that wait for a removed model get 503 `model_unloaded`.',
  })
  @ApiOkResponse({ type: AdminModelChangesDto })
  @DescribesErrors('models_file_invalid')
  async reload(): Promise<AdminModelChangesDto> {
    return this.models.reload();
  }

  @Post(':id/load')
  @HttpCode(200)
  @ApiParam({ name: 'id', example: 'pocketsphinx-en' })
  @ApiOperation({
    summary: 'Start the workers of a model',
    description: 'Returns at once; GET shows when it is loaded.',
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
      'Returns at once; running requests finish. Waiting and new ones get 503 `model_unloaded`, or start the model ' +
      'again with `autostart: on_request`.',
  })
  @ApiOkResponse({ type: AdminModelDto })
  @DescribesErrors('model_not_found')
  async unload(@Param('id') id: string): Promise<AdminModelDto> {
    return adminModelDto(await this.models.unload(id), Date.now());
  }
}
