/** What the answer of `INFO` means for this product. */
export function judgedInfo(info: string): {
  /** Why this Redis cannot be used; absent: it can. */
  readonly refusal?: string;
  /** It works, and may lose work. */
  readonly warning?: string;
} {
  const lines = info.split(/\r?\n/).map(line => line.split(':', 2));
  const fields = new Map(lines.map(([name = '', value = '']) => [name, value]));
  const mode = fields.get('redis_mode');
  if (mode === 'cluster') return { refusal: CLUSTER };
  if (mode === 'sentinel') return { refusal: SENTINEL };
  const policy = fields.get('maxmemory_policy') ?? 'noeviction';
  const isBounded = Number(fields.get('maxmemory') ?? 0) > 0;
  return policy === 'noeviction' || !isBounded ? {} : { warning: evicts(policy) };
}

const CLUSTER =
  'redis.url names a node of a Redis Cluster, which is not supported: the keys of a queue lie on ' +
  'several nodes there. Use one Redis, with replicas if you like.';

const SENTINEL =
  'redis.url names a Sentinel, which stores nothing. Name the Redis itself, or the Sentinels in ' +
  'redis.sentinels and their name of it in redis.master_name.';

/** The words of a Sentinel that was asked for another name than it knows. */
export const NO_SUCH_MASTER = /No such master/;

export const unknownMaster = (name: string): string =>
  `The Sentinels of redis.sentinels know no Redis of the name ${name} (redis.master_name).`;

const evicts = (policy: string): string =>
  `Redis removes keys when it is full (maxmemory-policy ${policy}): requests that wait in its queue ` +
  'can be lost. Set maxmemory-policy noeviction.';
