/** What the answer of `INFO` means for this product. */
export function judgedInfo(info: string): {
  /** It cannot be used. */
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
  'redis.url names a Sentinel, which stores nothing. Name the Redis itself: an address that ' +
  'follows the master, such as that of a proxy or a Kubernetes service.';

const evicts = (policy: string): string =>
  `Redis removes keys when it is full (maxmemory-policy ${policy}): requests that wait in its queue ` +
  'can be lost. Set maxmemory-policy noeviction.';
