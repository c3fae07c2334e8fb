import { Agent, request, type IncomingMessage } from 'node:http';

/**
 * The bare peer of `batch-throughput`: N callers in a loop over `node:http` with kept connections, the same body each time. It
 * reads no file, parses no answer, keeps no result. A process of its own, one job at a time.
 */
export interface BareJob {
  readonly port: number;
  readonly callers: number;
  readonly count: number;
  readonly body: string;
}

const agent = new Agent({ keepAlive: true, maxFreeSockets: 1024 });

process.on('message', (job: BareJob) => void run(job).then(tookMs => process.send?.({ type: 'done', tookMs })));
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ type: 'ready' });

async function run({ callers, count, ...job }: BareJob): Promise<number> {
  const startMs = performance.now();
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await exchange(job);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return performance.now() - startMs;
}

async function exchange({ port, body }: Pick<BareJob, 'port' | 'body'>): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const options = { agent, port, host: '127.0.0.1', method: 'POST', path: '/v1/chat/completions', headers };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(options, resolve).on('error', reject).end(body);
  });
  for await (const _ of answer);
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
}
