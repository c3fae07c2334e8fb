import { type RedisOptions } from 'ioredis';

/** What the thread that renews locks is started with. */
export interface LockThreadData {
  readonly url: string;
  readonly options: Pick<RedisOptions, 'connectionName'>;
  /** Of the queue: `PREFIX:QUEUE`. */
  readonly queueKey: string;
  readonly lockMs: number;
}

export type ToLockThread =
  /** @param untilMs epoch; a process that is stuck for longer loses the job, as it should */
  | { readonly type: 'hold'; readonly id: string; readonly token: string; readonly untilMs: number }
  | { readonly type: 'release'; readonly id: string; readonly token: string }
  | { readonly type: 'close' };

export type FromLockThread =
  | { readonly type: 'ready' }
  /** Somebody else has these jobs, or they are settled. */
  | { readonly type: 'lost'; readonly jobs: readonly { readonly id: string; readonly token: string }[] };
