import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { BOTTLENECKS, type BottleneckKind } from '../../../core/status/bottleneck.js';
import { KEY_STATES, KeyRing, type KeyState } from '../../../platform/auth/key-ring.js';
import { GatewayIdentity } from '../../../platform/clock/clock.module.js';
import { productVersion } from '../../../platform/process/product-version.js';
import { MODEL_STATES } from '../../worker-pool/worker-view.js';
import { type GatewaySnapshot, GatewayStatus, type ModelStatus } from './gateway-status.js';

export class StatusGatewayDto {
  @ApiProperty({ example: 'gw_0198a1b2', description: 'Another one after a restart; `source` in the live feed.' })
  id!: string;
  @ApiProperty({ example: '0.1.0' }) version!: string;
  @ApiProperty({ description: 'Unix seconds.' }) started_at!: number;
  @ApiProperty() uptime_s!: number;
  @ApiProperty({ description: 'It shuts down and accepts nothing new.' }) draining!: boolean;
  @ApiProperty({ enum: KEY_STATES, description: 'ignored: `auth.allow_anonymous` takes the effect from keys.' })
  keys!: KeyState;
}

export class BottleneckDto {
  @ApiProperty({ enum: BOTTLENECKS }) kind!: BottleneckKind;
  @ApiProperty({ nullable: true, type: String, description: 'Null: it concerns all models.' }) model!: string | null;
  @ApiProperty({ description: 'What limits the gateway now, and what would help.' }) text!: string;
}

export class StatusWaitingDto {
  @ApiProperty() realtime!: number;
  @ApiProperty() batch!: number;
  @ApiProperty({ description: 'Of `batch`: old enough to have turns beside realtime. Of this gateway only.' })
  aged!: number;
}

export class StatusWorkersDto {
  @ApiProperty() ready!: number;
  @ApiProperty() total!: number;
  @ApiProperty({ description: 'Drained by an operator.' }) drained!: number;
}

export class StatusSlotsDto {
  @ApiProperty() total!: number;
  @ApiProperty() free!: number;
}

export class StatusRatesDto {
  @ApiProperty({ description: 'Accepted into the queue.' }) arrived_per_s!: number;
  @ApiProperty() completed_per_s!: number;
  @ApiProperty() failed_per_s!: number;
  @ApiProperty({ description: 'Rejected by the queue.' }) refused_per_s!: number;
}

export class StatusModelDto {
  @ApiProperty({ example: 'pocketsphinx-en' }) id!: string;
  @ApiProperty({ enum: MODEL_STATES }) state!: string;
  @ApiProperty({ type: StatusWaitingDto }) waiting!: StatusWaitingDto;
  @ApiProperty({ description: 'Milliseconds; 0 when nothing waits.' }) oldest_wait_ms!: number;
  @ApiProperty({ description: 'Requests that workers have now.' }) in_flight!: number;
  @ApiProperty({ type: StatusWorkersDto }) workers!: StatusWorkersDto;
  @ApiProperty({ type: StatusSlotsDto }) slots!: StatusSlotsDto;
  @ApiProperty({ type: StatusRatesDto, description: 'Of this gateway, over the last minute.' }) rates!: StatusRatesDto;
}

export class StatusDependencyDto {
  @ApiProperty({ example: 'database', description: 'redis, database, blobs, batch_processor or disk.' }) name!: string;
  @ApiProperty({ enum: ['up', 'down', 'unknown'] }) state!: string;
  @ApiProperty({ description: 'Why it is down, or a figure of it; may be empty.' }) text!: string;
}

export class StatusBatchesDto {
  @ApiProperty() running!: number;
  @ApiProperty({ description: 'Not begun, or being validated.' }) waiting!: number;
}

export class StatusDto {
  @ApiProperty({ enum: ['status'] }) object!: 'status';
  @ApiProperty({ type: StatusGatewayDto }) gateway!: StatusGatewayDto;
  @ApiProperty({ type: BottleneckDto, nullable: true, description: 'Null: nothing limits it.' })
  bottleneck!: BottleneckDto | null;
  @ApiProperty({ type: [StatusModelDto] }) models!: StatusModelDto[];
  @ApiProperty({ type: [StatusDependencyDto] }) dependencies!: StatusDependencyDto[];
  @ApiProperty({ type: StatusBatchesDto, nullable: true, description: 'Null: the database does not answer.' })
  batches!: StatusBatchesDto | null;
}

/** What this gateway does now. */
@ApiTags('admin')
@Controller('admin/v1/status')
export class AdminStatusController {
  readonly #version = productVersion();

  constructor(
    private readonly status: GatewayStatus,
    private readonly identity: GatewayIdentity,
    private readonly ring: KeyRing,
  ) {}

  @Get()
  @ApiOperation({ summary: 'What this gateway does now, and what limits it' })
  @ApiOkResponse({ type: StatusDto })
  async find(): Promise<StatusDto> {
    const snapshot = await this.status.snapshot();
    return {
      object: 'status',
      gateway: this.#gateway(snapshot),
      bottleneck: snapshot.bottleneck ?? null,
      models: snapshot.models.map(modelDto),
      dependencies: [...snapshot.dependencies],
      batches: snapshot.batches ?? null,
    };
  }

  #gateway({ draining }: GatewaySnapshot): StatusGatewayDto {
    const { id, startedAtMs } = this.identity;
    const uptime = Math.floor((Date.now() - startedAtMs) / 1000);
    const startedAt = Math.floor(startedAtMs / 1000);
    return { id, version: this.#version, started_at: startedAt, uptime_s: uptime, draining, keys: this.ring.state };
  }
}

const modelDto = ({ id, state, workers, slots, rates, ...model }: ModelStatus): StatusModelDto => ({
  ...{ id, state, slots },
  waiting: { realtime: model.realtime, batch: model.batch, aged: model.aged },
  oldest_wait_ms: Math.round(model.oldestWaitMs),
  in_flight: model.inFlight,
  workers: { ready: workers.ready, total: workers.total, drained: workers.drained },
  rates: {
    arrived_per_s: hundredths(rates.arrived),
    completed_per_s: hundredths(rates.completed),
    failed_per_s: hundredths(rates.failed),
    refused_per_s: hundredths(rates.refused),
  },
});

const hundredths = (rate: number): number => Math.round(rate * 100) / 100;
