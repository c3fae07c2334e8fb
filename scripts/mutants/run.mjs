import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
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
import { changedSource } from './committed.mjs';

/** Not changed by any mutant, and large. */
const LINKED = ['node_modules', 'dist', 'console'];
/** What no spec reads. */
const LEFT_OUT = ['.git', 'data', 'shared', ':memory:'];
/** Of one spec file. A change that makes it wait for ever is caught as well. */
const LIMIT_MS = 90_000;

/**
 * Judges changes one by one, in a copy of the tree: the tree itself is never touched. The copy is
 * always at the same place: what was compiled there is kept.
 */
export class MutantRun {
  /** Whether a spec passes unchanged: one that does not would catch everything. */
  #sound = new Map();
  #folder = join(tmpdir(), `switchyard-mutants-${createHash('sha1').update(ROOT).digest('hex')}`);
  #isCopied = false;
  #child;
  #known = new Map();
  #kept;

  /** @param kept file of the results of earlier runs, which are not repeated; absent: none */
  constructor(kept) {
    this.#kept = kept;
    process.once('SIGTERM', () => process.exit(143));
    process.once('exit', () => {
      this.#kill();
      rmSync(this.#folder, { recursive: true, force: true });
    });
    if (kept && existsSync(kept))
      for (const line of readFileSync(kept, 'utf8').trim().split('\n')) {
        const { key, result } = JSON.parse(line);
        this.#known.set(key, result);
      }
  }

  /**
   * @param mutants {file, line, start, end, replacement, specs, meaning}
   * @param endMs no mutant is begun after it, by `performance.now()`
   * @returns {mutant, verdict: 'caught' | 'lived' | 'equivalent', by, seconds} of each that is
   *   judged
   */
  async judge(mutants, endMs = Infinity) {
    const results = [];
    for (const mutant of mutants) {
      const { file, line, start, replacement, meaning } = mutant;
      const key = `${file} ${start} ${replacement}`;
      let result = this.#known.get(key);
      if (!result && performance.now() > endMs) continue;
      if (!result) {
        result = await this.#judge(mutant);
        if (this.#kept) appendFileSync(this.#kept, `${JSON.stringify({ key, result })}\n`);
        const { verdict, by, seconds } = result;
        say(`${verdict} ${file}:${line} ${meaning} (${seconds} s) ${by}`);
      }
      results.push({ mutant, ...result });
    }
    return results;
  }

  async #judge(mutant) {
    if (mutant.isEquivalent) return { verdict: 'equivalent', by: '', seconds: 0 };
    const startMs = performance.now();
    this.#copy();
    const by = await this.#noticed(mutant);
    const seconds = Number(((performance.now() - startMs) / 1000).toFixed(1));
    return { verdict: by ? 'caught' : 'lived', by: by ?? mutant.specs.join(' '), seconds };
  }

  /** @returns what failed because of the change; undefined: nothing */
  async #noticed({ specs, ...mutant }) {
    const left = specs.filter(spec => this.#sound.get(spec) !== false);
    if (left.length === 0) return undefined;
    writeFileSync(this.#place(mutant.file), changedSource(mutant));
    const { code, output } = await this.#jest(left);
    copyFileSync(inRoot(mutant.file), this.#place(mutant.file));
    if (code === 0) return undefined;
    const { spec, text } = failureIn(output, left);
    if (await this.#isSound(spec)) return text;
    return this.#noticed({ ...mutant, specs: left });
  }

  async #isSound(spec) {
    if (!this.#sound.has(spec)) {
      const { code, output } = await this.#jest([spec]);
      this.#sound.set(spec, code === 0);
      if (code !== 0) say(`${spec} fails unchanged:\n${output.slice(-2000)}`);
    }
    return this.#sound.get(spec);
  }

  /** One start for all of them: modules are loaded once. The first failure ends it. */
  async #jest(specs) {
    const jest = join('node_modules', 'jest', 'bin', 'jest.js');
    const sequencer = `--testSequencer=${join(this.#folder, 'scripts/mutants/in-order.mjs')}`;
    // What is still open after the last test is not noticed by a test.
    const flags = ['-c', 'config/jest.config.js', '--runInBand', '--forceExit', '--bail'];
    let timer;
    const started = child => {
      this.#child = child;
      timer = setTimeout(() => this.#kill(), LIMIT_MS);
      child.stderr.on('data', text => /^PASS /m.test(text) && timer.refresh());
    };
    const args = [jest, ...flags, sequencer, '--runTestsByPath', ...specs];
    const result = await command(nodeBinary(), args, {
      ...{ cwd: this.#folder, detached: true, started },
      env: {
        ...process.env,
        ...{ NODE_OPTIONS: '--experimental-vm-modules', SPECS_IN_ORDER: JSON.stringify(specs) },
      },
    });
    clearTimeout(timer);
    this.#kill();
    return result;
  }

  /** With the processes that its specs started. */
  #kill() {
    try {
      if (this.#child) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // They have ended.
    }
    this.#child = undefined;
  }

  #copy() {
    if (this.#isCopied) return;
    this.#isCopied = true;
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder);
    for (const name of readdirSync(ROOT))
      if (![...LINKED, ...LEFT_OUT].includes(name))
        cpSync(inRoot(name), this.#place(name), {
          recursive: true,
          filter: source => !source.includes('node_modules'),
        });
    for (const name of LINKED)
      if (existsSync(inRoot(name))) symlinkSync(inRoot(name), this.#place(name));
  }

  #place(name) {
    return join(this.#folder, name);
  }
}

/** The spec and its first test that failed, or the spec that did not end. */
function failureIn(output, specs) {
  const [, failed] = /^FAIL (\S+)/m.exec(output) ?? [];
  if (failed) return { spec: failed, text: `${failed}: ${/^ {2}● (.*)$/m.exec(output)?.[1]}` };
  const passed = [...output.matchAll(/^PASS (\S+)/gm)].map(([, spec]) => spec);
  const spec = specs.find(each => !passed.includes(each)) ?? specs.at(-1);
  const how = output.endsWith('ended by SIGKILL') ? 'no end in time' : 'the process ended';
  return { spec, text: `${spec}: ${how}` };
}
