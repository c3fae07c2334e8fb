import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, inRoot } from './setup/command.mjs';
import { done, fail, runMain } from './setup/report.mjs';

const GENERATED = 'packages/worker-protocol/generated';

/**
 * `npm run proto:check`: the contracts are well formed, and the committed code is
 * what they generate.
 */
await runMain(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proto-'));
  try {
    return (await runBuf('lint')) && (await runBuf('generate', '-o', folder)) && isSame(folder)
      ? 0
      : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
});

async function runBuf(...args) {
  const { code, output } = await command(inRoot('node_modules/.bin/buf'), args);
  if (code !== 0) fail(`buf ${args[0]}:\n${output}`);
  return code === 0;
}

function isSame(folder) {
  const fresh = contents(join(folder, GENERATED));
  const committed = contents(inRoot(GENERATED));
  const differing = [...new Set([...fresh.keys(), ...committed.keys()])].filter(
    name => fresh.get(name) !== committed.get(name),
  );
  for (const name of differing)
    fail(`${GENERATED}/${name} is not what proto/ generates; run: npm run proto`);
  if (differing.length === 0) done('proto', `${fresh.size} generated files match`);
  return differing.length === 0;
}

function contents(folder) {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  );
  return new Map(
    names.map(({ parentPath, path, name }) => {
      const file = join(parentPath ?? path, name);
      return [file.slice(folder.length + 1), readFileSync(file, 'utf8')];
    }),
  );
}
