import { Inject, Injectable } from '@nestjs/common';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { ModelQueues } from './model-queues.js';

/** What waits and runs for one model, of all gateways. */
export interface QueueDepth {
  readonly model: string;
  readonly realtime: number;
  readonly batch: number;
  /** Jobs that workers have. */
  readonly running: number;
  /** Epoch milliseconds of the oldest that waits. */
  readonly oldestMs?: number;
}

/**
 * Counts by lane at one instant. Who was promoted, or came back from a dead worker, has left its class: of those few the lane is
 * read from the options it was queued with. The oldest is the head of a class, or one of those few.
 */
const COUNT = `
local from = function(class) return class * 0x100000000 end
local realtime = redis.call('ZCOUNT', KEYS[2], from(2), from(3) - 1)
local batch = redis.call('ZCOUNT', KEYS[2], from(3), '+inf')
local oldest = -1
local look = function(id)
  local at = tonumber(redis.call('HGET', ARGV[1] .. id, 'timestamp') or -1)
  if at >= 0 and (oldest < 0 or at < oldest) then oldest = at end
end
local moved = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', from(2) - 1)
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do moved[#moved + 1] = id end
for _, id in ipairs(moved) do
  local opts = redis.call('HGET', ARGV[1] .. id, 'opts') or '{}'
  if string.find(opts, '"priority":2', 1, true) then realtime = realtime + 1 else batch = batch + 1 end
  look(id)
end
for class = 2, 3 do
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], from(class), from(class + 1) - 1, 'LIMIT', 0, 1)) do look(id) end
end
return { realtime, batch, redis.call('LLEN', KEYS[3]), oldest }`;

/** How long the lines are: exact, at the moment of asking, never kept (D-10). */
@Injectable()
export class QueueDepths {
  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
  ) {}

  /** Of every configured model. @throws when Redis does not answer. */
  all(): Promise<QueueDepth[]> {
    return Promise.all(this.models.map(({ id }) => this.of(id)));
  }

  async of(model: string): Promise<QueueDepth> {
    const { redis, keys } = this.link;
    const base = this.queues.base(keys.queue(model));
    const places = ['wait', 'prioritized', 'active'].map(state => `${base}${state}`);
    const counts = (await redis.eval(COUNT, places.length, ...places, base)) as [number, number, number, number];
    const [realtime, batch, running, oldestMs] = counts;
    return { model, realtime, batch, running, ...(oldestMs >= 0 && { oldestMs }) };
  }
}
