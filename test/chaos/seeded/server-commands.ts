import { Client } from 'pg';
import { postgresUrl } from '../../../scripts/topology/servers.mjs';
import { redisClient } from '../../support/redis-client.js';

export async function redisCommand(port: number, name: string, ...args: string[]): Promise<void> {
  const redis = redisClient(`redis://127.0.0.1:${port}`, { maxRetriesPerRequest: 20 });
  try {
    await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}

/** For every session, from its next transaction. */
export async function databaseReadOnly(port: number, isReadOnly: boolean): Promise<void> {
  const client = new Client({
    connectionString: postgresUrl(port),
    options: '-c default_transaction_read_only=off',
  });
  await client.connect();
  try {
    await client.query(
      `ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
    );
    await client.query('SELECT pg_reload_conf()');
  } finally {
    await client.end();
  }
}
