// A supervised process that logs without a pause. FLOOD_MODE: `exits` when its parent is
// gone, as an idle worker does; `blocked`, whose event loop never turns again.
import './typescript-loader.mjs';

const { onParentLost } = await import('@switchyard/engine-api/process/parent-loss.js');
const { reportToSupervisor } = await import('../../src/worker/lifecycle/supervisor-link.js');
const { workerLog } = await import('../../src/worker/lifecycle/worker-log.js');

const log = workerLog({ workerId: 'flood', model: { id: 'flood' }, logLevel: 'info' });
const line = 'x'.repeat(200);
const flood = () => {
  for (let count = 0; count < 50; count += 1) log.info(line);
};
onParentLost(process, () => {
  flood();
  process.exit(0);
});
setInterval(flood, 1);
await reportToSupervisor({ type: 'ready' });
if (process.argv[2] === 'blocked')
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 20);
