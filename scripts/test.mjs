import { parseArgs } from 'node:util';
import { command } from './setup/command.mjs';
import { ensureDebianPackages } from './setup/engine-packages.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { ensureWorkerPython } from './setup/python-packages.mjs';
import { bold, doing, fail, runMain, say, seconds, SetupError, warn } from './setup/report.mjs';
import { CpuBudget } from './test-budget.mjs';
import { STEPS, TIERS } from './test-steps.mjs';

const HELP = `npm test, npm run test:gate, npm run test:night [-- --only NAME,NAME] [--save-budget]

Sets up, then runs the steps of the command. The last line is "N passed, N failed, N skipped".
${Object.values(TIERS)
  .map(tier => `${tier.command}: ${namesOf(tier).join(', ')}`)
  .join('\n')}
--only: these steps, of whatever command
--no-install: installs nothing
--save-budget: writes the CPU time of the steps into config/test-budget.json

A test that lacks a package is skipped; in the gate, in the night and where CI is set it fails,
as does a step that takes 20 % more CPU time than its budget.`;

const SLOWEST = 10;
/** A gate that needs more of them is not green. */
const SECOND_TRIES = 3;

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      'no-install': { type: 'boolean' },
      'save-budget': { type: 'boolean' },
    },
  });
  if (values.help) return void console.log(HELP);
  const tier = TIERS[positionals[0] ?? 'test'];
  if (!tier) throw new SetupError(`no such command: ${positionals[0]}\n${HELP}`);
  const steps = values.only ? chosen(values.only.split(',')) : tier.steps;
  // Settings of the person's shell must not decide whether tests pass.
  for (const name of Object.keys(process.env))
    if (name.startsWith('SWITCHYARD_')) delete process.env[name];
  await sayChanges();
  const outcomes = [await setUp(steps, { install: !values['no-install'] })];
  const budget = new CpuBudget();
  for (const group of groupsOf(steps))
    outcomes.push(
      ...(await budget.measure(async () => (await Promise.all(group.map(runStep))).flat())),
    );
  if (values['save-budget']) budget.save(outcomes);
  const strict = tier !== TIERS.test || process.env.CI !== undefined;
  return summarise(outcomes, { strict, over: budget.exceeded(), steps });
});

function chosen(names) {
  const unknown = names.filter(name => !STEPS.some(step => step.name === name));
  if (unknown.length > 0) throw new SetupError(`no such step: ${unknown.join(', ')}\n${HELP}`);
  return STEPS.filter(({ name }) => names.includes(name));
}

/** What runs at the same time: lists of a step with those within it. */
function groupsOf(steps) {
  const has = wanted => steps.some(({ name }) => name === wanted);
  const own = steps.filter(({ within }) => !has(within));
  const leads = own.filter(({ beside }) => !has(beside));
  return leads.map(lead =>
    [lead, ...own.filter(({ beside }) => beside === lead.name)].map(step => [
      step,
      ...steps.filter(({ within }) => within === step.name),
    ]),
  );
}

/** What is tested is then no commit. */
async function sayChanges() {
  const { code, output } = await command('git', ['status', '--porcelain']);
  const files = output.split('\n').filter(Boolean);
  if (code === 0 && files.length > 0)
    warn(`The working tree has changes in ${files.length} file(s): ${files[0].slice(3)}, …`);
}

/** The packages of every command that has one of these steps. */
async function setUp(steps, options) {
  const startMs = performance.now();
  const tiers = Object.values(TIERS).filter(tier => tier.steps.some(step => steps.includes(step)));
  const sets = [...new Set(tiers.flatMap(({ packages }) => packages))];
  await Promise.all([ensurePackages(options), ensureDebian(sets, options)]);
  if (sets.includes('gate')) process.env.WORKER_PYTHON = await ensureWorkerPython(options);
  return { name: 'set-up', durationMs: performance.now() - startMs, passed: 0, failed: 0 };
}

/** One after the other: they share a lock. */
async function ensureDebian(sets, options) {
  for (const set of sets) await ensureDebianPackages(set, options);
}

async function runStep([step, ...within]) {
  const steps = [step, ...within];
  for (const { name, proves } of steps) doing(bold(name), proves);
  const startMs = performance.now();
  const outcomes = [await step.run(within)].flat();
  const durationMs = performance.now() - startMs;
  for (const { output } of outcomes) if (output) say(output.trimEnd());
  return steps.map(({ name }, at) => ({ name, durationMs, ...outcomes[at] }));
}

/** Prints the table, and the line that machines read. @returns exit code */
function summarise(outcomes, { strict, over, steps }) {
  say('');
  for (const outcome of outcomes) sayStep(outcome);
  const sum = field => outcomes.reduce((total, outcome) => total + (outcome[field] ?? 0), 0);
  say(`  ${'all'.padEnd(12)} ${seconds(performance.now()).padStart(8)}`);
  const all = field => outcomes.flatMap(outcome => outcome[field] ?? []);
  for (const path of all('open')) warn(`left a handle open, so that jest did not exit: ${path}`);
  for (const file of all('secondTry')) warn(`needed a second try: ${file}`);
  saySlowest(all('files'));
  sayNotRun(steps);
  const needs = all('needs');
  const missing = needs.length > 0 ? ` (missing: ${[...new Set(needs)].join(', ')})` : '';
  const problems = [...over];
  if (all('secondTry').length > SECOND_TRIES)
    problems.push(`more than ${SECOND_TRIES} files needed a second try`);
  for (const problem of problems) (strict ? fail : warn)(problem);
  const lacking = strict ? needs.length : 0;
  const failed = sum('failed') + lacking + (strict ? problems.length : 0);
  console.log(
    `${sum('passed')} passed, ${failed} failed, ${sum('skipped') - lacking} skipped${missing}`,
  );
  return failed > 0 ? 1 : 0;
}

function sayStep({ name, durationMs, cpuS, passed, failed, skipped }) {
  const counted = `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
  const counts = skipped === undefined ? (failed > 0 ? 'failed' : 'ok') : counted;
  const cpu = cpuS === undefined ? '' : `${cpuS.toFixed(1)} s of CPU`;
  (failed > 0 ? fail : say)(
    `${failed > 0 ? '' : '  '}${name.padEnd(12)} ${seconds(durationMs).padStart(8)} ${cpu.padStart(16)}  ${counts}`,
  );
}

function sayNotRun(steps) {
  for (const tier of Object.values(TIERS)) {
    const left = namesOf({ steps: tier.steps.filter(step => !steps.includes(step)) });
    if (left.length > 0) say(`Not run: ${left.join(', ')}: ${tier.command}`);
  }
}

function namesOf({ steps }) {
  return steps.map(({ name }) => name);
}

function saySlowest(files) {
  if (files.length === 0) return;
  say('\nSlowest files:');
  for (const { name, durationMs } of files
    .sort((a, b) => b.durationMs - a.durationMs)
    .slice(0, SLOWEST))
    say(`  ${seconds(durationMs).padStart(8)}  ${name}`);
}
