// Supervises two flooding children and reads what they write, as a gateway does, until
// it is killed.
import { fileURLToPath } from 'node:url';
import './typescript-loader.mjs';

const { SupervisedProcess } = await import('@switchyard/engine-api/process/child-process.js');
const child = fileURLToPath(new URL('flooding-child.mjs', import.meta.url));
const start = mode =>
  new Promise(resolve => {
    const { pid } = new SupervisedProcess({
      command: process.execPath,
      args: [child, mode],
      env: process.env,
      onMessage: ({ type }) => type === 'ready' && resolve(pid),
      onExit: () => undefined,
      onLine: () => undefined,
    });
  });
process.send({
  type: 'ready',
  pids: await Promise.all(['exits', 'blocked'].map(start)),
});
