import { Redis } from 'ioredis';
import { Client } from 'pg';
import { postgresUrl } from '../../../scripts/topology/servers.mjs';

export async function redisCommand(port: number, name: string, ...args: string[]): Promise<void> {
  const redis = new Redis(port, '127.0.0.1');
  redis.on('error', () => undefined);
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
