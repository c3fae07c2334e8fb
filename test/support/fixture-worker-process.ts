import { readWorkerSpec } from '../../src/platform/config/worker-spec.js';
import { FixtureWorker } from './fixture-worker.js';

/**
 * The fixture as a supervised process. `model.options` may say `exitCode` (at once),
 * `silent` (never ready), `stubborn` (deaf to SIGTERM), `tell` (variables whose values
 * become the revision) and `device`.
 */
const spec = readWorkerSpec();
const { exitCode, silent, stubborn, device = 'cpu', tell = [] } = spec.model.options;

process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => {
  if (stubborn !== true) process.exit(0);
});

if (typeof exitCode === 'number') {
  process.stderr.write('cannot load the model: no such file\n');
  process.send?.({ type: 'failed', message: 'model.bin: no such file' });
  process.exit(exitCode);
}
const told = (tell as string[]).map(name => process.env[name] ?? null);
const worker = new FixtureWorker(
  {
    model: spec.model.id,
    kind: spec.model.kind,
    device: device as string,
    revision: JSON.stringify(told),
  },
  spec.maxMessageBytes,
);
const port = await worker.start();
process.stdout.write(`${JSON.stringify({ level: 30, msg: 'fixture listens', port })}\n`);
if (silent !== true) {
  process.send?.({ type: 'listening', port });
  process.send?.({ type: 'ready' });
}
