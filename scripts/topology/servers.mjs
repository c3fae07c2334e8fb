import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '../setup/report.mjs';

const REDIS = '/usr/bin/redis-server';
const POSTGRES = '/usr/lib/postgresql';

/** Of util-linux, on every Debian. */
const SETPRIV = '/usr/bin/setpriv';

/**
 * A Redis that forgets nothing it has answered: every write is on disk before its answer.
 */
export function redisServer({ folder, port }) {
  if (!existsSync(REDIS))
    throw new SetupError('Redis is not installed: apt-get install redis-server');
  const data = join(folder, 'redis');
  mkdirSync(data, { recursive: true });
  const listen = ['--port', String(port), '--bind', '127.0.0.1'];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  return {
    ...{ name: 'redis', kind: 'redis', cwd: data, port },
    ...endingWithUs('TERM', REDIS, [
      ...listen,
      '--dir',
      data,
      '--maxmemory-policy',
      'noeviction',
      ...durable,
    ]),
  };
}

/** A PostgreSQL cluster of its own, made when there is none yet. */
export function postgresServer({ folder, port }) {
  const account = postgresAccount();
  const data = postgresFolder(folder, account);
  if (!existsSync(join(data, 'PG_VERSION'))) {
    const how = ['-U', 'switchyard', '-A', 'trust', '-E', 'UTF8', '--no-locale'];
    execFileSync(postgresBinary('initdb'), ['-D', data, ...how], {
      stdio: 'pipe',
      cwd: data,
      ...account,
    });
  }
  const listen = [
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    'max_connections=200',
  ];
  return {
    ...{ name: 'postgres', kind: 'postgres', cwd: data, port, ...account },
    ...endingWithUs('INT', postgresBinary('postgres'), ['-D', data, ...listen]),
    // Fast shutdown: sessions end, what was answered is kept.
    stopSignal: 'SIGINT',
  };
}

/**
 * A command that is sent `signal` by the kernel when this process dies, however that
 * happens. Servers cannot watch an IPC channel as our own programs do, and would
 * otherwise hold their ports and folders for ever.
 */
const endingWithUs = (signal, file, args) =>
  existsSync(SETPRIV)
    ? { file: SETPRIV, args: ['--pdeathsig', signal, '--', file, ...args] }
    : { file, args };

export const postgresUrl = port => `postgres://switchyard@127.0.0.1:${port}/postgres`;

/**
 * Whether somebody takes connections there; Redis and PostgreSQL listen when they are
 * ready, or nearly so.
 */
export function listens(port) {
  return new Promise(resolve => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function postgresBinary(name) {
  const [version] = existsSync(POSTGRES)
    ? readdirSync(POSTGRES).sort((a, b) => Number(b) - Number(a))
    : [];
  if (version === undefined)
    throw new SetupError('PostgreSQL is not installed: apt-get install postgresql');
  return join(POSTGRES, version, 'bin', name);
}

/** PostgreSQL refuses to run as root; Debian's package made an account for it. */
function postgresAccount() {
  if (process.getuid?.() !== 0) return {};
  const idOf = flag => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/**
 * In the cluster's folder; where that account may not go, as below /root, in the folder
 * of temporary files.
 */
function postgresFolder(folder, account) {
  const inside = makeFor(join(folder, 'postgres'), account);
  if (mayEnter(inside, account)) return inside;
  const id = createHash('sha256').update(folder).digest('hex').slice(0, 12);
  return makeFor(join(tmpdir(), `switchyard-postgres-${id}`), account);
}

function makeFor(folder, { uid, gid }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

function mayEnter(folder, account) {
  try {
    execFileSync('ls', [folder], { stdio: 'ignore', cwd: '/', ...account });
    return true;
  } catch {
    return false;
  }
}
