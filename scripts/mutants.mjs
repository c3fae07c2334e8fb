import { parseArgs } from 'node:util';
import { committedMutants } from './mutants/committed.mjs';
import { randomMutants } from './mutants/random.mjs';
import { MutantRun } from './mutants/run.mjs';
import { SetupError, runMain } from './setup/report.mjs';

const HELP = `npm run mutants -- [--random N --seed S] [--only TEXT]

Changes one place of src at a time, in a copy of the tree, and runs the specs that should
notice. Without --random: the list in test/mutants/mutants.jsonl.

  --random N   N places of src/gateway, src/platform and src/batch, drawn; their nearest specs
  --seed S     the same places for the same seed and sources (1)
  --only TEXT  those whose file, change or meaning has it
  --help       this text

Exit code 1: of the list more than two lived, or of random ones more than 15 %.`;

/** Of the committed ones. */
const MAY_LIVE = 2;
const MAY_LIVE_SHARE = 0.15;

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return (console.log(HELP), 0);
  const isRandom = values.random !== undefined;
  const all = isRandom
    ? randomMutants(wholeNumber('--random', values.random), wholeNumber('--seed', values.seed))
    : committedMutants();
  const chosen = all.filter(mutant => JSON.stringify(mutant).includes(values.only));
  const results = await new MutantRun().judge(chosen);
  const lived = results.filter(({ verdict }) => verdict === 'lived').length;
  const caught = results.length - lived;
  const share = Math.round((100 * caught) / Math.max(1, results.length));
  console.log(`\n${table(results)}\n\n${caught} of ${results.length} caught (${share} %).`);
  return lived > (isRandom ? results.length * MAY_LIVE_SHARE : MAY_LIVE) ? 1 : 0;
});

function wholeNumber(flag, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new SetupError(`${flag} must be a whole number from 1; got "${text}".`);
  return number;
}

function table(results) {
  const rows = results.map(
    ({ mutant: { file, line, meaning }, verdict, spec, seconds }) =>
      `| ${verdict} | ${file}:${line} | ${meaning} | ${spec} | ${seconds} |`,
  );
  return ['| | place | change | spec | s |', '|---|---|---|---|---|', ...rows].join('\n');
}
