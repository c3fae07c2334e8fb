import { Agent, request } from 'node:http';
import { Pool } from 'undici';

/**
 * The bare peers of `batch-throughput`: N callers in a loop with kept connections, the
 * same body each time, the answer read whole. They read no file, parse no answer, keep no
 * result. A process of its own, one job at a time.
 */
export interface BareJob {
  readonly client: BareClient;
  readonly port: number;
  readonly callers: number;
  readonly count: number;
  readonly body: string;
}

/**
 * `node:http` is what a Node program has; undici's `request` is the simplest use of the
 * processor's own library.
 */
export type BareClient = 'node:http' | 'undici';

type Exchange = (body: string) => Promise<number | undefined>;

const CLIENTS: Record<BareClient, (port: number) => Exchange> = {
  'node:http': overNodeHttp,
  undici: overUndici,
};
const PATH = '/v1/chat/completions';
const open = new Map<string, Exchange>();

process.on(
  'message',
  (job: BareJob) => void run(job).then(tookMs => process.send?.({ type: 'done', tookMs })),
);
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ type: 'ready' });

async function run({ client, port, callers, count, body }: BareJob): Promise<number> {
  const exchange = open.get(client) ?? CLIENTS[client](port);
  open.set(client, exchange);
  const startMs = performance.now();
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await exchange(body);
      if (status !== 200) throw new Error(`status ${status}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return performance.now() - startMs;
}

function overNodeHttp(port: number): Exchange {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1024 });
  return body => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      request({ agent, port, host: '127.0.0.1', method: 'POST', path: PATH, headers }, answer => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          Buffer.concat(chunks);
          resolve(answer.statusCode);
        });
      })
        .on('error', reject)
        .end(body);
    });
  };
}

function overUndici(port: number): Exchange {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  return async body => {
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({ method: 'POST', path: PATH, headers, body });
    await answer.body.arrayBuffer();
    return answer.statusCode;
  };
}
