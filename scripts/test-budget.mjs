import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Files that take longer are started first (`test/support/jest/longest-first.mjs`). */
const LONG_S = 8;

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

  /**
   * @param run resolves with the outcomes of steps that run at the same time; specs know their
   *   `cpuS`, and one other step has the rest
   */
  async measure(run) {
    this.#factors.push(REFERENCE_MS / workMs(20));
    const load = machineLoad();
    const [before, startMs] = [usedCpuS(), performance.now()];
    const outcomes = await run();
    if (before === undefined) return outcomes;
    const cpuS = usedCpuS() - before;
    const { busy, stolen } = load();
    const own = cpuS / availableParallelism() / ((performance.now() - startMs) / 1000);
    const isBusy = busy + stolen - own > BUSY;
    const known = outcomes.reduce((sum, outcome) => sum + (outcome.cpuS ?? 0), 0);
    const other = outcomes.find(outcome => outcome.cpuS === undefined) ?? outcomes[0];
    other.cpuS = (other.cpuS ?? 0) + cpuS - known;
    for (const outcome of outcomes) {
      this.#used[outcome.name] = outcome.cpuS;
      if (isBusy) this.#busy.add(outcome.name);
    }
    return outcomes;
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

  /** @param outcomes of all steps */
  save(outcomes) {
    const cpuSeconds = { ...this.#budget.cpuSeconds, ...this.#scaled() };
    const ran = outcomes.flatMap(({ files = [] }) => files);
    const kept = Object.entries(this.#budget.fileSeconds).filter(
      ([name]) => !ran.some(file => file.name === name) && existsSync(inRoot(name)),
    );
    const long = ran
      .map(({ name, durationMs }) => [name, Math.round(durationMs / 1000)])
      .filter(([, seconds]) => seconds >= LONG_S);
    const fileSeconds = Object.fromEntries([...kept, ...long].sort((a, b) => b[1] - a[1]));
    const budget = { ...this.#budget, cpuSeconds, fileSeconds };
    writeFileSync(FILE, `${JSON.stringify(budget, null, 2)}\n`);
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

/** User and system time of this process and its ended children. */
export function usedCpuS() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_S;
  } catch {
    return undefined;
  }
}
