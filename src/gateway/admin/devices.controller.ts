import { Controller, Get } from '@nestjs/common';
import { type ModelAtDevice } from '../../core/devices/swap-policy.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import {
  choiceField,
  listField,
  nullableField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { EmbeddedQueue } from '../queue/embedded-queue.js';

const STAGES = ['loading', 'resident', 'leaving'] as const;

class DeviceModelDto extends answer({
  id: textField({ example: 'qwen3-8b' }),
  stage: nullableField(choiceField(STAGES, 'Null: it is not on this device.')),
  memory_bytes: Number,
  waiting: numberField('Requests and sessions that wait for it.'),
  running: numberField('Requests and sessions that it has.'),
  awaited: optionalField(textField('What these wait for, while it is not loaded.')),
}) {}

class DeviceSpanDto extends answer({
  model: textField({ example: 'qwen3-8b' }),
  stage: choiceField(STAGES),
  from: numberField('Unix seconds, with fractions.'),
  to: nullableField(numberField('Null: until now.')),
}) {}

class DeviceDto extends answer({
  id: textField({ example: 'gpu0' }),
  memory_bytes: numberField('That its models share.'),
  used_bytes: numberField('Of models that are loaded, loading or leaving.'),
  models: listField(DeviceModelDto),
  history: listField(DeviceSpanDto, 'The last 15 minutes, oldest first.'),
}) {}

class DevicesDto extends answer({ data: listField(DeviceDto) }) {}

/** Devices whose memory models share. */
@Controller('admin/v1/devices')
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
        history: this.swaps.history.spans
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
