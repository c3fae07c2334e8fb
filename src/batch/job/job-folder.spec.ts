import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { JobFolder, writeAtomically } from './job-folder.js';

const modeOf = (path: string) => statSync(path).mode & 0o777;

it('the work folder of a batch is private, keeps results without its input, and goes as a whole', async () => {
  const jobs = join(temporaryFolder(), 'jobs');
  const folder = new JobFolder(jobs, 'batch_1');
  // Nothing to remove yet.
  await folder.removeInput();
  for (let times = 0; times < 2; times++) await folder.make();
  expect([folder.plans, folder.results].map(modeOf)).toEqual([0o700, 0o700]);
  const { input, modelMap, owner, rejected } = folder;
  for (const path of [input, modelMap, owner, rejected]) writeFileSync(path, '');
  await folder.removeInput();
  expect(readdirSync(folder.path).sort()).toEqual([
    ...['owner.json', 'plans', 'rejected.jsonl', 'results'],
  ]);
  for (let times = 0; times < 2; times++) await folder.remove();
  expect([existsSync(folder.path), existsSync(jobs)]).toEqual([false, true]);
});

it('a file that is written atomically is replaced as a whole, and no draft stays', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'a.json');
  for (const text of ['a longer text', 'short']) await writeAtomically(path, text);
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['a.json'], 'short']);
  expect(modeOf(path)).toBe(0o600);
});
