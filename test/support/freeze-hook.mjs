/**
 * Loaded into a processor under test (`--import`): the test names an operation on the
 * disk or the database over IPC, and the process stops itself (SIGSTOP) right before it.
 * The test continues it with SIGCONT.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { Worker } from 'node:worker_threads';

/**
 * `{ type: 'freeze', after?, at, nth? }`: regular expressions over
 * `<operation> <arguments>`.
 */
let order;

function before(operation) {
  if (!order) return;
  if (order.after) {
    if (order.after.test(operation)) order.after = undefined;
    return;
  }
  if (!order.at.test(operation) || --order.nth > 0) return;
  order = undefined;
  process.kill(process.pid, 'SIGSTOP');
}

process.on('message', message => {
  if (message?.type !== 'freeze') return;
  const { after, at, nth = 1 } = message;
  order = { after: after && new RegExp(after), at: new RegExp(at), nth };
});

for (const name of ['readFile', 'writeFile', 'rename', 'link', 'rm', 'unlink', 'open', 'readdir']) {
  const real = fs[name];
  fs[name] = (...args) => {
    before(`${name} ${String(args[0])}`);
    return real(...args);
  };
}
syncBuiltinESMExports();

// Queries go to the thread that owns the file.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  if (message?.sql) before(`${message.sql} ${JSON.stringify(message.parameters)}`);
  return post.call(this, message, ...rest);
};
