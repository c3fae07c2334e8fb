import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../support/redis-server.js';
import { pause } from '../../../support/waiting.js';
import { DEVICE, type DeviceModel } from '../device-models.js';

/**
 * BullMQ behind HTTP: one process that adds jobs and waits for their results, one that
 * runs them. Groups are BullMQ Pro's; here the processor of a `Worker` hands its job to a
 * micro-batcher, and the concurrency is a group on the device and one ahead.
 */
const QUEUE = 'transcriptions';
const WINDOW_MS = 5;
/** How many results are kept: a result that is gone cannot be waited for. */
const COMPLETED = 1000;
/** Behind every job without a priority. */
const BULK = 10;

interface Item {
  readonly model: DeviceModel;
  done(text: string): void;
}

const connectTo = (url: string): Redis => new Redis(url, { maxRetriesPerRequest: null });

async function serveHttp(): Promise<void> {
  const redis = await RedisServer.start();
  startDevice(redis.url);
  const queue = new Queue(QUEUE, { connection: connectTo(redis.url) });
  const events = new QueueEvents(QUEUE, { connection: connectTo(redis.url) });
  events.setMaxListeners(0);
  await events.waitUntilReady();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const options = {
      removeOnComplete: COMPLETED,
      ...(request.headers['x-priority'] === 'bulk' && { priority: BULK }),
    };
    const job = await queue.add('transcription', await json(request), options);
    // Fails for a job that runs already.
    const remove = (): void => void job.remove().catch(() => undefined);
    if (response.destroyed) return remove();
    response.once('close', () => response.writableEnded || remove());
    const text = (await job.waitUntilFinished(events)) as string;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text }));
  };
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );
  server.listen(Number(process.env.PEER_PORT), '127.0.0.1');
  process.once('SIGTERM', () => void redis[Symbol.asyncDispose]().then(() => process.exit(0)));
}

/** Again when it was killed, as a supervisor would. */
function startDevice(url: string): void {
  fork(fileURLToPath(import.meta.url), [url]).once('exit', () => startDevice(url));
}

function serveJobs(url: string): void {
  writeFileSync(process.env.DEVICE_PID_FILE ?? '', String(process.pid));
  process.once('disconnect', () => process.exit(0));
  const waiting: Item[] = [];
  let wake = (): void => undefined;
  void (async () => {
    for (;;) {
      if (waiting.length === 0) await new Promise<void>(resolve => (wake = resolve));
      for (
        const end = performance.now() + WINDOW_MS;
        waiting.length < DEVICE.group && performance.now() < end;
      )
        await pause(1);
      const group = waiting.splice(0, DEVICE.group);
      const { groupMs, itemMs } = DEVICE.costs[group[0]!.model];
      await pause(groupMs + itemMs * group.length);
      for (const item of group) item.done('done');
    }
  })();
  const process_ = ({ data: { model } }: { data: { model: DeviceModel } }): Promise<string> =>
    new Promise(done => {
      waiting.push({ model, done });
      wake();
    });
  new Worker(QUEUE, process_, {
    connection: connectTo(url),
    concurrency: 2 * DEVICE.group,
  });
}

const [url] = process.argv.slice(2);
if (url === undefined) await serveHttp();
else serveJobs(url);
