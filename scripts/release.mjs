import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { pack } from './pack.mjs';
import { command, inRoot } from './setup/command.mjs';
import { done, runMain, say, SetupError } from './setup/report.mjs';

const HELP = `npm run release [-- --tag]

Checks that this commit can be released, makes the npm package and, with --tag, the tag vVERSION. It publishes nothing;
what remains is printed.

  --tag    make the annotated tag (otherwise nothing is changed)
  --help   this text

Checked: clean tree, version of package.json in package-lock.json, chart, compose files and CHANGELOG.md, no such tag.`;

const read = path => readFileSync(inRoot(path), 'utf8');
const matches = (path, pattern) => [...read(path).matchAll(pattern)].map(([, version]) => version);

/** Where the version stands besides package.json; a spec keeps them equal, too. */
export const versionsElsewhere = () => ({
  'package-lock.json': [JSON.parse(read('package-lock.json')).version],
  'docker/helm/switchyard/Chart.yaml': matches(
    'docker/helm/switchyard/Chart.yaml',
    /^(?:appVersion|version): (\S+)$/gm,
  ),
  ...Object.fromEntries(
    ['compose.yaml', 'compose.gpu.yaml', 'compose.cluster.yaml'].map(name => [
      `docker/${name}`,
      matches(`docker/${name}`, /image: switchyard-\w+:(\S+)$/gm),
    ]),
  ),
});

async function git(...args) {
  const { code, output } = await command('git', args);
  if (code !== 0) throw new SetupError(`git ${args[0]}: ${output.trim()}`);
  return output.trim();
}

/**
 * @returns the text of the version's section. @throws SetupError that says
 *   what is missing
 */
export function changelogSection(text, version) {
  const heading = new RegExp(
    `^## \\[?${version.replaceAll('.', '\\.')}\\]?(?: - \\d{4}-\\d{2}-\\d{2})?$`,
    'm',
  ).exec(text);
  if (!heading) throw new SetupError(`CHANGELOG.md has no section "## ${version}"`);
  const rest = text.slice(heading.index + heading[0].length);
  const section = rest.slice(0, rest.search(/^## /m) >>> 0).trim();
  if (section === '') throw new SetupError(`the section ${version} of CHANGELOG.md is empty`);
  return section;
}

async function check(version) {
  if ((await git('status', '--porcelain')) !== '')
    throw new SetupError('the tree has changes: commit them first');
  for (const [file, versions] of Object.entries(versionsElsewhere())) {
    const other = versions.find(each => each !== version);
    if (other !== undefined)
      throw new SetupError(`${file} has version ${other}, package.json ${version}`);
  }
  changelogSection(read('CHANGELOG.md'), version);
  if ((await git('tag', '--list', `v${version}`)) !== '')
    throw new SetupError(`the tag v${version} exists`);
  done('release', `${version}: clean tree, one version everywhere, changelog`);
}

if (import.meta.filename === process.argv[1]) {
  await runMain(async () => {
    const { values } = parseArgs({
      options: { tag: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) return void console.log(HELP);
    const { version } = JSON.parse(read('package.json'));
    await check(version);
    const archive = await pack();
    if (values.tag)
      await git('tag', '--annotate', `v${version}`, '--message', `Switchyard ${version}`);
    say(`\n${values.tag ? `Tagged v${version}` : 'Nothing was changed'}. ${values.tag ? 'To publish' : 'With --tag'}:
  git push origin v${version}        the workflow .github/workflows/images.yaml builds and pushes the images
  npm publish ${archive}`);
  });
}
