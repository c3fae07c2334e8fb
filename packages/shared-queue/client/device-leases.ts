import { HEARTBEAT_MS } from '../heartbeat.js';
import { type QueueLink } from './queue-link.js';

/**
 * From the last renewal. Workers of a gateway that was killed have ended after 3 s
 * (`process/child-process`), and renewals may be a heartbeat late.
 */
export const DEVICE_LEASE_MS = 5 * HEARTBEAT_MS;

/**
 * KEYS: leases of devices; ARGV[1] a gateway, [2] milliseconds, [3] 1 when it may take what
 * nobody has. All of them or none. Returns who has them; '': nobody.
 */
const HOLD = `
for _, key in ipairs(KEYS) do
  local owner = redis.call('GET', key)
  if owner and owner ~= ARGV[1] then return owner end
  if not owner and ARGV[3] ~= '1' then return '' end
end
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'PX', ARGV[2]) end
return ARGV[1]`;

/** KEYS: leases of devices; ARGV[1] the gateway that gives back those that it has. */
const RELEASE = `
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end`;

/** Why a model cannot be loaded, and for how many milliseconds its requests are refused. */
interface Refusal {
  readonly model: string;
  readonly reason: string;
  readonly leftMs: number;
}

/**
 * Which of the gateways that share devices loads models there. A device id names the same
 * device for all of them. Every method rejects while Redis is away.
 */
export class DeviceLeases {
  /** @param gateway unique name of this process */
  constructor(
    private readonly link: Pick<QueueLink, 'redis' | 'keys'>,
    private readonly gateway: string,
  ) {}

  /**
   * Takes or renews the leases of all of these devices, unless another gateway has one.
   * @param mayTake what nobody has; false: only its own are renewed
   * @returns the gateway that has them; '': none has
   */
  async hold(devices: readonly string[], mayTake: boolean): Promise<string> {
    const rest = [this.gateway, DEVICE_LEASE_MS, mayTake ? 1 : 0];
    return (await this.#run(HOLD, devices, rest)) as string;
  }

  async release(devices: readonly string[]): Promise<void> {
    await this.#run(RELEASE, devices, [this.gateway]);
  }

  /** Tells the other gateways why a model cannot be loaded. */
  async refuse({ model, reason, leftMs }: Refusal): Promise<void> {
    const { redis, keys } = this.link;
    await redis.set(keys.refused(model), reason, 'PX', Math.max(1, Math.ceil(leftMs)));
  }

  async refusals(models: readonly string[]): Promise<readonly Refusal[]> {
    const { redis, keys } = this.link;
    const reasons = await redis.mget(models.map(model => keys.refused(model)));
    const refused = models.map((model, at) => ({ model, reason: reasons[at] ?? '' }));
    return Promise.all(
      refused
        .filter(({ reason }) => reason !== '')
        .map(async one => ({ ...one, leftMs: await redis.pttl(keys.refused(one.model)) })),
    );
  }

  #run(script: string, devices: readonly string[], rest: readonly (string | number)[]) {
    const { redis, keys } = this.link;
    return redis.eval(script, devices.length, ...devices.map(id => keys.device(id)), ...rest);
  }
}
