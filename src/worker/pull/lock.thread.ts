import { parentPort, workerData } from 'node:worker_threads';
import { Redis } from 'ioredis';
import {
  type FromLockThread,
  LockRenewal,
  type LockThreadData,
  type ToLockThread,
} from './lock-renewal.js';

const port = parentPort;
if (port === null)
  throw new Error('This module is the entry of a thread; it cannot run on its own.');
const data = workerData as LockThreadData;
const redis = new Redis(data.url, {
  ...data.options,
  maxRetriesPerRequest: null,
  retryStrategy: () => 100,
});
// The main thread reports that Redis is unreachable.
redis.on('error', () => undefined);
const renewal = new LockRenewal(redis, data, message => port.postMessage(message));
port.postMessage({ type: 'ready' } satisfies FromLockThread);
port.on('message', (message: ToLockThread) => {
  renewal.receive(message);
  if (message.type === 'close') port.close();
});
