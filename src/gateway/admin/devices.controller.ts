import { Get } from '@nestjs/common';
import { type ModelAtDevice } from '../../core/devices/swap-policy.port.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { EmbeddedQueue } from '../queue/embedded-queue.js';
import { DevicesDto } from './devices.dto.js';

/** Devices whose memory models share. */
@AdminController('devices')
export class AdminDevicesController {
  constructor(
    private readonly swaps: DeviceSwaps,
    private readonly queue: EmbeddedQueue,
  ) {}

  @Get()
  @Answers(DevicesDto)
  find() {
    const { placements } = this.swaps;
    const models = placements.models();
    return {
      data: this.swaps.devices().map(({ id, memory }) => ({
        id,
        memory_bytes: memory,
        used_bytes: placements.used(id),
        models: models.filter(model => isOf(model, id)).map(model => this.#model(model)),
        history: this.swaps.history
          .since(Date.now())
          .filter(({ device }) => device === id)
          .map(({ model, stage, fromMs, toMs }) => ({
            ...{ model, stage, from: fromMs / 1000 },
            to: toMs === undefined ? null : toMs / 1000,
          })),
      })),
    };
  }

  #model({ id, stage, memory, demand }: ModelAtDevice) {
    const { waiting, running, oldestRealtimeMs } = demand;
    const { REALTIME, BATCH } = RequestPriority;
    const priority = oldestRealtimeMs < Infinity ? REALTIME : BATCH;
    return {
      ...{ id, memory_bytes: memory, waiting, running },
      stage: stage === 'absent' ? null : stage,
      awaited: waiting > 0 ? this.queue.awaited(id, priority) : undefined,
    };
  }
}

/** It is there, or may come. */
const isOf = ({ device, devices }: ModelAtDevice, id: string): boolean =>
  device === undefined ? devices.includes(id) : device === id;
