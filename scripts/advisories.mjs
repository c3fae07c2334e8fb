import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { command, inRoot, lastLines } from './setup/command.mjs';
import { done, runMain, warn } from './setup/report.mjs';

/**
 * Asks for known advisories against every package that the lockfiles and the lists of Python
 * packages name. What cannot be asked is said and is no failure; an advisory of this severity
 * or worse is one.
 */
const FAILING = ['high', 'critical'];

const npmLocks = [
  { folder: '.', args: ['--omit=dev'], what: 'npm packages of the product' },
  { folder: '.', args: [], what: 'npm packages with those of development' },
  { folder: 'console', args: [], what: 'npm packages of the console' },
];

async function askNpm({ folder, args, what }) {
  const { output } = await command('npm', ['audit', '--json', ...args], { cwd: inRoot(folder) });
  const report = jsonIn(output);
  if (report?.vulnerabilities === undefined)
    return notAsked(what, report?.message ?? report?.error?.summary ?? lastLines(output));
  const found = Object.values(report.vulnerabilities);
  for (const { name, severity, range } of found) warn(`${what}: ${name} ${range}, ${severity}`);
  done(what, found.length === 0 ? 'no advisory' : `${found.length} with an advisory`);
  return found.filter(({ severity }) => FAILING.includes(severity)).length;
}

/** pip-audit is no part of the product: it is asked where it is installed. */
async function askPython() {
  const what = 'Python packages';
  const folder = 'workers/python/requirements';
  const files = readdirSync(inRoot(folder)).flatMap(name => ['-r', `${folder}/${name}`]);
  const args = ['--format', 'json', '--progress-spinner', 'off', '--require-hashes'];
  const { code, output } = await command('pip-audit', [...args, '--disable-pip', ...files]);
  if (code === 127) return notAsked(what, 'pip-audit is not installed: pip install pip-audit');
  const report = jsonIn(output);
  if (report?.dependencies === undefined) return notAsked(what, lastLines(output));
  const found = report.dependencies.filter(({ vulns = [] }) => vulns.length > 0);
  for (const { name, version, vulns } of found)
    warn(`${what}: ${name} ${version}, ${vulns.map(({ id }) => id).join(', ')}`);
  done(what, found.length === 0 ? 'no advisory' : `${found.length} with an advisory`);
  // It names no severity.
  return found.length;
}

function notAsked(what, why) {
  warn(`${what}: not asked. ${why}`);
  return 0;
}

function jsonIn(output) {
  try {
    return JSON.parse(output.slice(output.search(/^\{/m), output.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

if (import.meta.filename === process.argv[1]) {
  await runMain(async () => {
    const { values } = parseArgs({
      options: { help: { type: 'boolean', short: 'h', default: false } },
    });
    if (values.help) {
      console.log(
        'npm run advisories    asks for advisories where a registry answers; exit code 1: one is high or critical',
      );
      return 0;
    }
    let failing = 0;
    for (const lock of npmLocks) failing += await askNpm(lock);
    failing += await askPython();
    return failing > 0 ? 1 : 0;
  });
}
