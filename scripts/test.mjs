import { parseArgs } from 'node:util';
import { ensureDebianPackages } from './setup/engine-packages.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { bold, doing, fail, runMain, say, seconds, SetupError, warn } from './setup/report.mjs';
import { FULL, QUICK, STEPS } from './test-steps.mjs';

const HELP = `npm test [-- --quick | --full] [--only NAME,NAME] [--kills N]

Sets up, then runs every check. The last line is "N passed, N failed, N skipped"; it names the
packages that skipped tests need.
--quick: only ${QUICK.join(', ')}; lint checks changed files only
--full: also ${FULL.join(', ')}, and more kills; the same as npm run test:full
--kills: how often the chaos step kills batch processors (15; full: 50)
Steps: ${STEPS.map(({ name }) => name).join(', ')}`;

const SLOWEST = 10;

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      full: { type: 'boolean' },
      only: { type: 'string' },
      kills: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      'no-install': { type: 'boolean' },
    },
  });
  if (values.help) return void console.log(HELP);
  const steps = chosen(values);
  await ensurePackages({ install: !values['no-install'] });
  await ensureDebianPackages('engine', { install: !values['no-install'] });
  await ensureDebianPackages('test', { install: !values['no-install'] });
  // Settings of the person's shell must not decide whether tests pass.
  for (const name of Object.keys(process.env))
    if (name.startsWith('SWITCHYARD_')) delete process.env[name];
  if (values.kills) process.env.CHAOS_KILLS = values.kills;
  if (values.full) process.env.TEST_FULL = '1';
  return summarise(await runSteps(steps, { quick: values.quick ?? false }));
});

function chosen({ only, quick, full }) {
  if (!only && !quick) return STEPS.filter(({ name }) => full || !FULL.includes(name));
  const names = only ? only.split(',') : QUICK;
  const unknown = names.filter(name => !STEPS.some(step => step.name === name));
  if (unknown.length > 0) throw new SetupError(`no such step: ${unknown.join(', ')}\n${HELP}`);
  return STEPS.filter(({ name }) => names.includes(name));
}

/**
 * Checks with one process and captured output run beside one another; suites use both
 * cores and run one by one.
 */
async function runSteps(steps, options) {
  const outcomes = await Promise.all(
    steps.filter(({ isLight }) => isLight).map(step => runStep(step, options)),
  );
  for (const step of steps.filter(({ isLight }) => !isLight))
    outcomes.push(await runStep(step, options));
  return outcomes;
}

async function runStep({ name, proves, run }, options) {
  doing(bold(name), proves);
  const startMs = performance.now();
  const outcome = await run(options);
  if (outcome.output) say(outcome.output.trimEnd());
  return { name, durationMs: performance.now() - startMs, ...outcome };
}

/** Prints the table, and the line that machines read. @returns exit code */
function summarise(outcomes) {
  say('');
  for (const outcome of outcomes) sayStep(outcome);
  const all = field => outcomes.flatMap(outcome => outcome[field] ?? []);
  for (const path of all('open')) warn(`left a handle open, so that jest did not exit: ${path}`);
  for (const file of all('secondTry')) warn(`needed a second try: ${file}`);
  saySlowest(all('files'));
  const sum = field => outcomes.reduce((total, outcome) => total + (outcome[field] ?? 0), 0);
  const needs = [...new Set(all('needs'))];
  const missing = needs.length > 0 ? ` (missing: ${needs.join(', ')})` : '';
  console.log(
    `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped${missing}`,
  );
  return sum('failed') > 0 ? 1 : 0;
}

function sayStep({ name, durationMs, passed, failed, skipped }) {
  const counted = `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
  const counts = skipped === undefined ? (failed > 0 ? 'failed' : 'ok') : counted;
  (failed > 0 ? fail : say)(
    `${failed > 0 ? '' : '  '}${name.padEnd(12)} ${seconds(durationMs).padStart(8)}  ${counts}`,
  );
}

function saySlowest(files) {
  if (files.length === 0) return;
  say('\nSlowest files:');
  for (const { name, durationMs } of files
    .sort((a, b) => b.durationMs - a.durationMs)
    .slice(0, SLOWEST))
    say(`  ${seconds(durationMs).padStart(8)}  ${name}`);
}
