import { fork } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBenchBuild, ensureBuild } from './setup/build.mjs';
import { command, inRoot, ROOT } from './setup/command.mjs';
import { ensureDebianPackages } from './setup/engine-packages.mjs';
import { ensureLlamaServer } from './setup/llama-server.mjs';
import { machineLoad } from './setup/machine-load.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { bold, doing, done, fail, runMain, say, SetupError } from './setup/report.mjs';
import { ensureWhisperPython } from './setup/whisper-python.mjs';

/** Benches that start servers of their own, by Debian package. */
const SERVERS = {
  'shared-queue': 'redis-server',
  'scale-out': 'redis-server',
  'league-jobs': 'redis-server',
  'league-batching': 'redis-server',
};

const HELP = `npm run bench -- NAME [NAME...] | all | --list
  --peer llama-server   generation: beside llama.cpp's own server, which is built once
  --kernels native      first compiles llama.cpp for this machine's CPU, also for workers (switchyard engines install)
  --save                writes the result to test/bench/results/NAME.json

Each bench ends with one line of JSON: {bench, commit, machine, results, goals: [{name, value, aim, met}]}.`;

await runMain(async () => {
  const { values, positionals } = parseArgs({
    options: {
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      peer: { type: 'string' },
      kernels: { type: 'string' },
      save: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const known = benchNames();
  if (values.list) return void console.log(known.join('\n'));
  if (values.help || positionals.length === 0)
    return void console.log(`${HELP}\n\nBenches: ${known.join(', ')}`);
  const names = positionals.includes('all') ? known : positionals;
  const unknown = names.filter(name => !known.includes(name));
  if (unknown.length > 0)
    throw new SetupError(`no such bench: ${unknown.join(', ')}. There are: ${known.join(', ')}`);
  if (values.peer !== undefined && values.peer !== 'llama-server')
    throw new SetupError(`no such peer: ${values.peer}. There is: llama-server`);
  if (values.kernels !== undefined && values.kernels !== 'native')
    throw new SetupError(`no such kernels: ${values.kernels}. There are: native`);
  return runBenches(names, values);
});

function benchNames() {
  const folder = inRoot('test/bench');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(name => name.endsWith('.bench.ts'))
    .map(name => name.slice(0, -'.bench.ts'.length))
    .sort();
}

async function runBenches(names, { peer, kernels, save }) {
  await ensurePackages();
  await ensureDebianPackages('engine');
  await ensureServers(names);
  await ensureBuild();
  const folder = await ensureBenchBuild();
  if (kernels) await compileKernels();
  // The environment may name a binary that was built elsewhere.
  if (peer) process.env.LLAMA_SERVER ??= (await ensureLlamaServer()) ?? '';
  if (names.includes('whisper')) process.env.WHISPER_PYTHON ??= await ensureWhisperPython();
  const commit = await describeCommit();
  let failures = 0;
  for (const bench of names) {
    doing(`bench ${bench}`);
    const load = machineLoad();
    const result = await runOne(join(folder, 'test/bench', `${bench}.bench.js`));
    if (!result) {
      failures += 1;
      continue;
    }
    const whole = { bench, commit, machine: load(), ...result };
    print(whole);
    if (save) await keep(whole);
  }
  return failures > 0 ? 1 : 0;
}

async function compileKernels() {
  const args = [inRoot('dist/main.cli.js'), 'engines', 'install', 'llama-cpp', '--native'];
  const { code } = await command(nodeBinary(), args, { show: true });
  if (code !== 0) throw new SetupError('llama.cpp cannot be compiled here; the message is above');
}

/** Installs them as `npm test` does. @throws SetupError before any bench has run */
async function ensureServers(names) {
  const needing = names.filter(name => name in SERVERS);
  if (needing.length === 0) return;
  const missing = await ensureDebianPackages('cluster');
  const lacking = needing.filter(name => missing.includes(SERVERS[name]));
  if (lacking.length > 0)
    throw new SetupError(
      `bench ${lacking[0]} needs ${SERVERS[lacking[0]]}, which is not installed`,
    );
}

/** In a process of its own: one bench's heap and JIT state must not colour the next. */
function runOne(file) {
  return new Promise(resolve => {
    const runner = inRoot('scripts/bench-runner.mjs');
    const child = fork(runner, [file], {
      cwd: ROOT,
      execPath: nodeBinary(),
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    let result;
    child.on('message', message => (result = message));
    child.once('exit', code => {
      if (code !== 0 || !result) fail(`ended with code ${code}`);
      resolve(code === 0 ? result : undefined);
    });
  });
}

/** Short commit; `+` when the tree differs from it. */
async function describeCommit() {
  const head = await command('git', ['rev-parse', '--short', 'HEAD']);
  if (head.code !== 0) return 'unknown';
  const changed = await command('git', ['status', '--porcelain', '--untracked-files=no']);
  return head.output.trim() + (changed.output.trim() ? '+' : '');
}

function print(result) {
  const width = Math.max(0, ...result.goals.map(({ name }) => name.length));
  say(bold(`\n${result.bench}`));
  for (const { name, value, aim, met } of result.goals)
    say(`  ${met ? '✓' : '✗'} ${name.padEnd(width)}  ${value}  (aim ${aim})`);
  say('');
  console.log(JSON.stringify(result));
}

/** As the formatter wants it: results are committed. */
async function keep(result) {
  const { format } = await import('oxfmt');
  const file = inRoot('test/bench/results', `${result.bench}.json`);
  const text = JSON.stringify({
    at: `${new Date().toISOString().slice(0, 16)}Z`,
    ...result,
  });
  const { code } = await format(file, text, { printWidth: 120 });
  writeFileSync(file, code);
  done(relative(ROOT, file), 'written');
}
