import multipart from '@fastify/multipart';
import fastify, { type FastifyRequest } from 'fastify';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { WorkerClient } from './worker-client.js';

/**
 * The bare peer of the `overhead` bench, in its own process: Fastify,
 * @fastify/multipart, one grpc-js channel to the same worker, nothing else. Per request
 * it parses the form into memory, makes one TranscribeFile call with the project's own
 * codec and answers `{"text": …}`. It has no queue, no slots, no ids, no cancel on
 * disconnect, no validation, no metrics, no log line and no timing headers: what the
 * gateway adds is the difference.
 */
async function serve(workerAddress: string): Promise<void> {
  const worker = new WorkerClient(workerAddress);
  const app = fastify({ logger: false });
  await app.register(multipart, { limits: { fileSize: 26_214_400 } });
  app.get('/health/ready', () => ({ status: 'ok' }));
  app.post('/v1/audio/transcriptions', async request => {
    const upload = await readUpload(request);
    const answer = await worker.transcribe(upload.audio, upload.filename, priorityOf(request));
    return { text: answer.transcript.text };
  });
  process.on('SIGTERM', () => process.exit(0));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  process.send?.({
    type: 'listening',
    port: typeof address === 'object' ? address?.port : undefined,
  });
}

async function readUpload(request: FastifyRequest): Promise<{ audio: Buffer; filename: string }> {
  let audio: Buffer = Buffer.alloc(0);
  let filename = '';
  for await (const part of request.parts()) {
    if (part.type !== 'file') continue;
    audio = await part.toBuffer();
    filename = part.filename;
  }
  return { audio, filename };
}

function priorityOf(request: FastifyRequest): RequestPriority {
  return request.headers['x-priority'] === 'realtime'
    ? RequestPriority.REALTIME
    : RequestPriority.BATCH;
}

await serve(process.env.BENCH_WORKER_ADDRESS ?? '');
