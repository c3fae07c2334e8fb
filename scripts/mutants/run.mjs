import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, inRoot, ROOT } from '../setup/command.mjs';
import { nodeBinary } from '../setup/packages.mjs';
import { say } from '../setup/report.mjs';

/** Not changed by any mutant, and large. */
const LINKED = ['node_modules', 'dist', 'console'];
/** What no spec reads. */
const LEFT_OUT = ['.git', 'data', 'shared', ':memory:'];
/** A change that makes a spec wait for ever is caught as well; unchanged it ends by then. */
const LIMIT_MS = 180_000;
/** So many times what it took unchanged, and what a busy machine may take more. */
const PATIENCE = 3;
const BUSY_MS = 20_000;

/** Judges changes one by one, in a copy of the tree: the tree itself is never touched. */
export class MutantRun {
  /** By spec. */
  #limits = new Map();
  #folder = mkdtempSync(join(tmpdir(), 'switchyard-mutants-'));

  /**
   * @param mutants {file, line, start, end, replacement, specs, meaning}
   * @returns {mutant, verdict: 'caught' | 'lived', spec, seconds} of each
   */
  async judge(mutants) {
    process.once('SIGTERM', () => process.exit(143));
    process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true }));
    this.#copy();
    const results = [];
    for (const mutant of mutants) {
      const result = await this.#judge(mutant);
      results.push(result);
      say(`${results.length}/${mutants.length} ${result.verdict} ${mutant.file}:${mutant.line}`);
    }
    return results;
  }

  #copy() {
    for (const name of readdirSync(ROOT))
      if (![...LINKED, ...LEFT_OUT].includes(name))
        cpSync(inRoot(name), this.#place(name), {
          recursive: true,
          filter: source => !source.includes('node_modules'),
        });
    for (const name of LINKED)
      if (existsSync(inRoot(name))) symlinkSync(inRoot(name), this.#place(name));
  }

  /**
   * How long a spec may take. Undefined for one that fails by itself: it would catch everything.
   */
  async #limitOf(spec) {
    if (!this.#limits.has(spec)) {
      const startMs = performance.now();
      const { isGreen, output } = await this.#run(spec, LIMIT_MS);
      const limitMs = PATIENCE * (performance.now() - startMs) + BUSY_MS;
      if (!isGreen) say(`${spec} fails unchanged:\n${output.slice(-2000)}`);
      this.#limits.set(spec, isGreen ? limitMs : undefined);
    }
    return this.#limits.get(spec);
  }

  async #judge(mutant) {
    const { file, start, end, replacement, specs } = mutant;
    const startMs = performance.now();
    const source = readFileSync(inRoot(file), 'utf8');
    const changed = source.slice(0, start) + replacement + source.slice(end);
    let noticed;
    for (const spec of specs) {
      const limitMs = await this.#limitOf(spec);
      if (limitMs === undefined) continue;
      writeFileSync(this.#place(file), changed);
      noticed = (await this.#run(spec, limitMs)).isGreen ? undefined : spec;
      copyFileSync(inRoot(file), this.#place(file));
      if (noticed) break;
    }
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    return {
      ...{ mutant, seconds, verdict: noticed ? 'caught' : 'lived' },
      spec: noticed ?? specs.join(' '),
    };
  }

  async #run(spec, limitMs) {
    const jest = join('node_modules', 'jest', 'bin', 'jest.js');
    const args = [jest, '-c', 'config/jest.config.js', '--maxWorkers=1', '--bail', spec];
    let timer;
    const started = child => (timer = setTimeout(() => child.kill('SIGKILL'), limitMs));
    const { code, output } = await command(nodeBinary(), args, {
      ...{ cwd: this.#folder, started },
      env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' },
    });
    clearTimeout(timer);
    return { isGreen: code === 0, output };
  }

  #place(name) {
    return join(this.#folder, name);
  }
}
