/**
 * Loaded into a process under test (`--import`): its wall clock is as many milliseconds
 * ahead as the file named by `TEST_CLOCK_FILE` says, from a moment after it was written.
 * Durations (`performance.now`) and timers go on as they are, as when a clock is set.
 */
import { readFileSync } from 'node:fs';

const READ_EVERY_MS = 100;
const file = process.env.TEST_CLOCK_FILE;
const Real = globalThis.Date;
let aheadMs = 0;

function read() {
  try {
    aheadMs = Number(readFileSync(file, 'utf8'));
  } catch {
    aheadMs = 0; // not written yet
  }
}

const now = () => Real.now() + aheadMs;

if (file) {
  globalThis.Date = new Proxy(Real, {
    apply: () => new Real(now()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
  Real.prototype.constructor = globalThis.Date;
  read();
  setInterval(read, READ_EVERY_MS).unref();
}
