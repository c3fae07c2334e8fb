import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Buildah } from './images/buildah.mjs';
import { Docker } from './images/docker.mjs';
import { smoke } from './images/smoke.mjs';
import { inRoot } from './setup/command.mjs';
import { doing, fail, runMain, say, SetupError, seconds } from './setup/report.mjs';

const HELP = `npm run images [-- TARGETS… --base auto|debian|published --no-models]

Builds the images of docker/Dockerfile, starts each as production does (uid 1000, read-only root, no capabilities), and
prints their sizes. Nothing is pushed. With Docker where it runs; else with buildah and runc, as root, from Debian.

  TARGETS      gateway, speech, cpu (default: these three), cuda
  --base       of buildah: published images, ones made here of Debian's packages and Node's npm package, or what works
               (default auto)
  --no-models  do not fetch Whisper base (145 MB) to transcribe with the speech image
  --keep       leave what was built for the next run (buildah), 6 GB in node_modules/.cache
  --save DIR   write each image that passed into the folder, as switchyard-TARGET-VERSION.tar
  --built TAG  try an image that Docker has, and build nothing; with one target
  --help       this text

It takes 10 to 30 minutes and 6 GB in node_modules/.cache, which are removed at the end. The target cuda needs
NVIDIA's base image, so a registry, and a GPU to be tried: it is built where Docker is and not started.`;

/** Largest sizes on disk, in MB. */
const LIMITS_MB = { gateway: 220, speech: 750 };
const TARGETS = ['gateway', 'speech', 'cpu'];
const NOT_STARTED = ['cuda'];
const { version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
const BASES = ['auto', 'debian', 'published'];

async function make(engine, target, { built, models, save }) {
  const tag = built ?? `switchyard-${target}:built`;
  const startedMs = Date.now();
  if (!built) {
    doing(target, 'is built');
    await engine.build(target, tag);
  }
  const builtMs = Date.now();
  const megabytes = (await engine.size(tag)) / 1e6;
  if (!NOT_STARTED.includes(target)) await smoke(engine, target, tag, { models });
  const limit = LIMITS_MB[target];
  if (megabytes > limit)
    throw new SetupError(`${target}: ${megabytes.toFixed(0)} MB, at most ${limit}`);
  if (save) await engine.save(tag, join(save, `switchyard-${target}-${version}.tar`));
  return { target, megabytes, limit, buildMs: builtMs - startedMs, smokeMs: Date.now() - builtMs };
}

function table(rows) {
  say('\nimage     MB   limit   built in   tried in');
  for (const { target, megabytes, limit = '', buildMs, smokeMs } of rows) {
    const times = [buildMs, smokeMs].map(ms => seconds(ms).padStart(9)).join('  ');
    say(
      `${target.padEnd(8)} ${megabytes.toFixed(0).padStart(4)} ${String(limit).padStart(6)}  ${times}`,
    );
  }
}

/** Targets are independent: one that fails leaves the others their turn. @returns exit code */
async function makeAll(engine, targets, options) {
  const rows = [];
  for (const target of targets) {
    try {
      rows.push(await make(engine, target, options));
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      fail(error.message);
    }
  }
  table(rows);
  if (!targets.includes('cuda')) say('Not built: cuda. It needs a registry (docker/README.md).');
  return rows.length === targets.length ? 0 : 1;
}

function read() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      base: { type: 'string', default: 'auto' },
      models: { type: 'boolean', default: true },
      built: { type: 'string' },
      save: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const unknown = positionals.find(name => ![...TARGETS, ...NOT_STARTED].includes(name));
  if (unknown)
    throw new SetupError(`no target ${unknown}: ${[...TARGETS, ...NOT_STARTED].join(', ')}`);
  if (!BASES.includes(values.base)) throw new SetupError(`--base is one of ${BASES.join(', ')}`);
  if (values.built !== undefined && positionals.length !== 1)
    throw new SetupError('--built TAG needs the one target that it is');
  return { ...values, targets: positionals.length > 0 ? positionals : TARGETS };
}

await runMain(async () => {
  const { help, targets, ...options } = read();
  if (help) return void console.log(HELP);
  const hasDocker = await Docker.isHere();
  if (!hasDocker && (options.built !== undefined || targets.includes('cuda')))
    throw new SetupError('Docker is not here: --built and the target cuda need it');
  const engine = hasDocker ? Docker.open() : await Buildah.open(options);
  try {
    return await makeAll(engine, targets, options);
  } finally {
    if (!options.keep) await engine.close();
  }
});
