import { parseArgs } from 'node:util';
import { committedMutants } from './mutants/committed.mjs';
import { randomMutants } from './mutants/random.mjs';
import { MutantRun } from './mutants/run.mjs';
import { SetupError, runMain } from './setup/report.mjs';

const HELP = `npm run mutants -- [--random N --seed S] [--only TEXT] [--minutes M --kept FILE]

Changes one place of src at a time, in a copy of the tree, and runs the specs that should
notice. Without --random: the list in test/mutants/mutants.jsonl. Changes of
test/mutants/equivalents.jsonl, which no caller can notice, are not judged.

  --random N   N places of src/gateway, src/platform and src/batch, drawn; their nearest specs
  --seed S     the same places for the same seed and sources (1)
  --only TEXT  those whose file, change or meaning has it
  --minutes M  begins none after so many minutes
  --kept FILE  writes each result to FILE; those that are there are not judged again: the same
               command, repeated, goes on where it ended. The sources must stay the same.
  --help       this text

Exit code 1: of the list more than two lived, or of random ones more than 15 %; or some are
not judged yet.`;

/** Of the committed ones. */
const MAY_LIVE = 2;
const MAY_LIVE_SHARE = 0.15;

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      minutes: { type: 'string' },
      kept: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return (console.log(HELP), 0);
  const isRandom = values.random !== undefined;
  const all = isRandom
    ? randomMutants(wholeNumber('--random', values.random), wholeNumber('--seed', values.seed))
    : committedMutants();
  const chosen = all.filter(mutant => JSON.stringify(mutant).includes(values.only));
  const endMs = values.minutes
    ? performance.now() + wholeNumber('--minutes', values.minutes) * 60_000
    : Infinity;
  const results = await new MutantRun(values.kept).judge(chosen, endMs);
  const [lived, caught, equivalent] = ['lived', 'caught', 'equivalent'].map(
    wanted => results.filter(({ verdict }) => verdict === wanted).length,
  );
  const share = Math.round((100 * caught) / Math.max(1, caught + lived));
  const open = chosen.length - results.length;
  const source = isRandom ? `seed ${values.seed}` : 'the list';
  const numbers = `${caught} of ${caught + lived} caught (${share} %), ${equivalent} equivalent`;
  console.log(`\n${table(results)}\n\n${source}: ${numbers}, ${open} not judged yet.`);
  const mayLive = isRandom ? (caught + lived) * MAY_LIVE_SHARE : MAY_LIVE;
  return lived > mayLive || open > 0 ? 1 : 0;
});

function wholeNumber(flag, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new SetupError(`${flag} must be a whole number from 1; got "${text}".`);
  return number;
}

function table(results) {
  const rows = results.map(
    ({ mutant: { file, line, meaning }, verdict, by, seconds }) =>
      `| ${verdict} | ${file}:${line} | ${meaning} | ${by} | ${seconds} |`,
  );
  return [
    '| | place | change | noticed by, or not by | s |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
