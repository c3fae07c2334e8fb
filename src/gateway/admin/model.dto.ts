import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { AUTOSTARTS } from '../../platform/config/model-spec.js';
import { type ModelView } from '../worker-pool/model-view.js';
import { WorkerDto, workerDto } from './worker.dto.js';

const STATES = ['unloaded', 'loading', 'loaded', 'unloading', 'failed'] as const;

export class AdminModelDto {
  @ApiProperty({ example: 'pocketsphinx-en' }) id!: string;
  @ApiProperty({ enum: STATES, description: 'failed: no worker is up and each has ended or cannot be reached.' })
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
