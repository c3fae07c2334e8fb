import { parseArgs } from 'node:util';
import { ensureEnginePackages, ensureTestPackages } from './setup/engine-packages.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { bold, doing, fail, runMain, say, seconds, SetupError } from './setup/report.mjs';
import { STEPS } from './test-steps.mjs';

const HELP = `npm test [-- --only NAME,NAME] [--kills N]

Sets up, then runs every check; the last line is "N passed, N failed".
--kills: how often chaos kills batch processors (50), and processes of a cluster (10).
Steps: ${STEPS.map(({ name }) => name).join(', ')}`;

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      kills: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      'no-install': { type: 'boolean' },
    },
  });
  if (values.help) return void console.log(HELP);
  const steps = chosen(values.only);
  await ensurePackages({ install: !values['no-install'] });
  await ensureEnginePackages({ install: !values['no-install'] });
  await ensureTestPackages({ install: !values['no-install'] });
  // Settings of the person's shell must not decide whether tests pass.
  for (const name of Object.keys(process.env)) if (name.startsWith('SWITCHYARD_')) delete process.env[name];
  if (values.kills) process.env.CHAOS_KILLS = values.kills;
  const outcomes = [];
  for (const step of steps) outcomes.push(await runStep(step));
  return summarise(outcomes);
});

function chosen(only) {
  if (!only) return STEPS;
  const names = only.split(',');
  const unknown = names.filter(name => !STEPS.some(step => step.name === name));
  if (unknown.length > 0) throw new SetupError(`no such step: ${unknown.join(', ')}\n${HELP}`);
  return STEPS.filter(({ name }) => names.includes(name));
}

async function runStep({ name, proves, run }) {
  doing(bold(name), proves);
  const startMs = performance.now();
  const outcome = await run();
  if (outcome.output) say(outcome.output.trimEnd());
  return { name, durationMs: performance.now() - startMs, ...outcome };
}

/** The table, and the line that machines read. @returns exit code */
function summarise(outcomes) {
  say('');
  for (const { name, durationMs, passed, failed, skipped } of outcomes) {
    const counted = `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
    const counts = skipped === undefined ? (failed > 0 ? 'failed' : 'ok') : counted;
    (failed > 0 ? fail : say)(
      `${failed > 0 ? '' : '  '}${name.padEnd(12)} ${seconds(durationMs).padStart(8)}  ${counts}`,
    );
  }
  for (const file of outcomes.flatMap(({ secondTry = [] }) => secondTry)) fail(`needed a second try: ${file}`);
  const sum = field => outcomes.reduce((total, outcome) => total + outcome[field], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') > 0 ? 1 : 0;
}
