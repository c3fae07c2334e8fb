import { Get } from '@nestjs/common';
import { swapText } from '../../core/devices/load-text.js';
import { type ModelAtDevice } from '../../core/devices/swap-policy.port.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { EmbeddedQueue } from '../queue/embedded-queue.js';
import { DevicesDto } from './dto/devices.dto.js';

/** Devices whose memory models share. */
@AdminController('devices')
export class AdminDevicesController {
  constructor(
    private readonly swaps: DeviceSwaps,
    private readonly queue: EmbeddedQueue,
    private readonly clock: ProcessClock,
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
        loaded_by: this.swaps.loadedBy,
        models: models.filter(model => isOf(model, id)).map(model => this.#model(model)),
        next: this.#next(id),
        history: this.swaps.history
          .since(Date.now())
          .filter(({ device }) => device === id)
          .map(({ model, stage, fromMs, toMs }) => ({
            model,
            stage,
            from: fromMs / 1000,
            to: toMs === undefined ? null : toMs / 1000,
          })),
      })),
    };
  }

  #next(device: string) {
    const swap = this.swaps.placements.nextOn(device);
    if (!swap || this.swaps.loadedBy !== undefined) return undefined;
    const { model, reason, leaving, atMs } = swap;
    const inMs = Math.max(0, atMs - this.clock.nowMs());
    return {
      model,
      reason,
      leaving,
      in_s: inMs === Infinity ? null : inMs / 1000,
      explanation: swapText(swap, this.clock.nowMs()),
    };
  }

  #model({ id, stage, memory, demand }: ModelAtDevice) {
    const { waiting, running, oldestRealtimeMs } = demand;
    const { REALTIME, BATCH } = RequestPriority;
    const priority = oldestRealtimeMs < Infinity ? REALTIME : BATCH;
    return {
      id,
      memory_bytes: memory,
      waiting,
      running,
      stage: stage === 'absent' ? null : stage,
      awaited: waiting > 0 ? this.queue.awaited(id, priority)?.text : undefined,
    };
  }
}

/** Whether the model is on the device, or is on none and may be loaded there. */
const isOf = ({ device, devices }: ModelAtDevice, id: string): boolean =>
  device === undefined ? devices.includes(id) : device === id;
