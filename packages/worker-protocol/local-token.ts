import { createHmac, randomBytes } from 'node:crypto';

/** A worker in another language finds the token of its supervisor there. */
export const LOCAL_TOKEN_VARIABLE = 'SWITCHYARD_WORKER_TOKEN';

const SECRET = randomBytes(32);

/**
 * What a worker that this process starts asks of its callers: it listens on the loopback
 * interface, where any process of the machine could call it and read what others send. New in
 * each process. Other gateways read that of a worker on a shared device in Redis, and nothing
 * follows from it for another worker.
 */
export const localToken = (workerId: string): string =>
  createHmac('sha256', SECRET).update(workerId).digest('base64url');
