import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { inRoot } from './setup/command.mjs';
import { machineLoad } from './setup/machine-load.mjs';
import { REFERENCE_MS, workMs } from './setup/machine-speed.mjs';

const FILE = inRoot('config/test-budget.json');
const GROWTH = 1.2;
/** Share of the machine that others use, above which CPU time says little. */
const BUSY = 0.25;
/** Of `/proc` on every Linux. */
const TICKS_PER_S = 100;

/**
 * CPU seconds of the steps of `npm test` and their budget, `config/test-budget.json`:
 * what the children of this process used, those that they waited for included. The
 * machine's speed is measured with a fixed piece of work, so that budgets hold on
 * other machines. Linux only; elsewhere nothing is measured.
 */
export class CpuBudget {
  #budget = JSON.parse(readFileSync(FILE, 'utf8'));
  #used = {};
  #busy = new Set();
  #factors = [];

  /** @param run resolves with the outcomes of steps that run at the same time */
  async measure(name, run) {
    this.#factors.push(REFERENCE_MS / workMs(20));
    const load = machineLoad();
    const [before, startMs] = [childrenCpuS(), performance.now()];
    const outcomes = await run();
    if (before === undefined) return outcomes;
    const cpuS = childrenCpuS() - before;
    const { busy, stolen } = load();
    const own = cpuS / availableParallelism() / ((performance.now() - startMs) / 1000);
    if (busy + stolen - own > BUSY) this.#busy.add(name);
    this.#used[name] = cpuS;
    return outcomes.map((outcome, at) => (at === 0 ? { ...outcome, cpuS } : outcome));
  }

  /** @returns what to say of each step over its budget; none of a busy machine */
  exceeded() {
    return Object.entries(this.#scaled())
      .filter(([name, cpuS]) => !this.#busy.has(name) && cpuS > this.#allowed(name))
      .map(
        ([name, cpuS]) =>
          `${name} took ${cpuS} s of CPU, 20 % more than its budget of ` +
          `${this.#budget.cpuSeconds[name]} s in config/test-budget.json`,
      );
  }

  save() {
    const cpuSeconds = { ...this.#budget.cpuSeconds, ...this.#scaled() };
    writeFileSync(FILE, `${JSON.stringify({ ...this.#budget, cpuSeconds }, null, 2)}\n`);
  }

  #allowed(name) {
    return (this.#budget.cpuSeconds[name] ?? Infinity) * GROWTH;
  }

  /** As on the machine of the budget. The median: one measurement may be disturbed. */
  #scaled() {
    const sorted = [...this.#factors].sort((a, b) => a - b);
    const factor = sorted[Math.floor(sorted.length / 2)];
    return Object.fromEntries(
      Object.entries(this.#used).map(([name, cpuS]) => [name, Math.ceil(cpuS * factor)]),
    );
  }
}

/** User and system time of ended children. */
function childrenCpuS() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S;
  } catch {
    return undefined;
  }
}
