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

/** A gateway that loads models on devices of its host. */
export interface DeviceOwner {
  /** Unique name of its process. */
  readonly id: string;
  readonly host: string;
}

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
  readonly #own: string;

  constructor(
    private readonly link: Pick<QueueLink, 'redis' | 'keys'>,
    { id, host }: DeviceOwner,
  ) {
    this.#own = `${id} ${host}`;
  }

  /**
   * Takes or renews the leases of all of these devices, unless another gateway has one.
   * @param mayTake what nobody has; false: only its own are renewed
   * @returns the gateway that has them; undefined: none has
   */
  async hold(devices: readonly string[], mayTake: boolean): Promise<DeviceOwner | undefined> {
    const rest = [this.#own, DEVICE_LEASE_MS, mayTake ? 1 : 0];
    const [id = '', host = ''] = String(await this.#run(HOLD, devices, rest)).split(' ');
    return id === '' ? undefined : { id, host };
  }

  async release(devices: readonly string[]): Promise<void> {
    await this.#run(RELEASE, devices, [this.#own]);
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

  /** Live sessions wait for it: for two heartbeats. */
  async requestLoad(model: string): Promise<void> {
    const { redis, keys } = this.link;
    await redis.set(keys.loadRequested(model), 1, 'PX', 2 * HEARTBEAT_MS);
  }

  /** Of these models, those that sessions of some gateway wait for. */
  async requestedLoads(models: readonly string[]): Promise<readonly string[]> {
    const { redis, keys } = this.link;
    const found = await redis.mget(models.map(model => keys.loadRequested(model)));
    return models.filter((_, at) => found[at] !== null);
  }

  #run(script: string, devices: readonly string[], rest: readonly (string | number)[]) {
    const { redis, keys } = this.link;
    return redis.eval(script, devices.length, ...devices.map(id => keys.device(id)), ...rest);
  }
}
