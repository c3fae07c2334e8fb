import { randomBytes } from 'node:crypto';

/** A worker in another language finds the token of its supervisor there. */
export const LOCAL_TOKEN_VARIABLE = 'SWITCHYARD_WORKER_TOKEN';

/**
 * What this process asks of the workers that it starts: they listen on the loopback
 * interface, where any process of the machine could call them and read what others send.
 * New in each process, never stored.
 */
export const LOCAL_TOKEN = randomBytes(32).toString('base64url');
