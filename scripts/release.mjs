import { createHash } from 'node:crypto';
import {
  createReadStream,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { pack } from './pack.mjs';
import { command, inRoot, lastLines, toolEnvironment } from './setup/command.mjs';
import { done, runMain, say, SetupError, warn } from './setup/report.mjs';

const HELP = `npm run release [-- --tag | --dry-run] [--no-images]

Makes what a release publishes in release/VERSION: the npm package, the chart, the images as archives, the release
notes, a CycloneDX SBOM of the npm packages, and SHA256SUMS. It publishes nothing; what a person has to do is printed.

  --dry-run    make it from this tree as it is; say what a release would refuse
  --tag        make the annotated tag vVERSION, too (otherwise nothing in git is changed)
  --no-images  leave out the images, which take 10 to 30 minutes
  --help       this text

Checked first: clean tree, version of package.json in every file that has it, a section of CHANGELOG.md and
nothing under "Unreleased", no such tag.`;

const read = path => readFileSync(inRoot(path), 'utf8');
const matches = (path, pattern) => [...read(path).matchAll(pattern)].map(([, version]) => version);

/** One stands for a package of others, with the version that these ask for. */
const OWN_PACKAGES = readdirSync(inRoot('packages')).filter(name => name !== 'no-telemetry');

/** Of a package, and of those of this product that it asks for. */
const ownVersions = ({ version, dependencies = {} }) => [
  version,
  ...Object.entries(dependencies).flatMap(([name, asked]) =>
    name.startsWith('@switchyard/') ? [asked] : [],
  ),
];

/** Where the version stands besides package.json; a spec keeps them equal, too. */
export const versionsElsewhere = () => ({
  'package-lock.json': [JSON.parse(read('package-lock.json')).version],
  ...Object.fromEntries(
    ['console', ...OWN_PACKAGES.map(name => `packages/${name}`)].map(folder => [
      `${folder}/package.json`,
      ownVersions(JSON.parse(read(`${folder}/package.json`))),
    ]),
  ),
  'workers/python/pyproject.toml': matches(
    'workers/python/pyproject.toml',
    /^version = "(\S+)"$/gm,
  ),
  'test/golden/openapi.json': [JSON.parse(read('test/golden/openapi.json')).info.version],
  'docs/start/install.md': matches('docs/start/install.md', /switchyard-gateway-(\d\S+)\.tgz/g),
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

/** Notes that belong to no version are in the notes of no release. */
export const hasUnreleased = text => /^## Unreleased\s+(?!## )\S/m.test(text);

/** @returns what keeps this tree from being released */
async function problemsOf(version) {
  const problems = [];
  if ((await git('status', '--porcelain')) !== '')
    problems.push('the tree has changes: commit them first');
  if (hasUnreleased(read('CHANGELOG.md')))
    problems.push(
      `CHANGELOG.md has notes under "Unreleased": they belong into the section ${version}`,
    );
  for (const [file, versions] of Object.entries(versionsElsewhere())) {
    const other = versions.find(each => each !== version);
    if (other !== undefined) problems.push(`${file} has version ${other}, package.json ${version}`);
  }
  if ((await git('tag', '--list', `v${version}`)) !== '')
    problems.push(`the tag v${version} exists`);
  return problems;
}

async function run(file, args) {
  const { code, output } = await command(file, args, { env: toolEnvironment() });
  if (code !== 0) throw new SetupError(`${file} ${args[0]} failed:\n${lastLines(output)}`);
  return output;
}

/** What stands in the folder of a release, beside notes and checksums. */
const PARTS = {
  'npm package': async ({ folder }) => {
    const archive = await pack();
    cpSync(archive, join(folder, basename(archive)));
  },
  // The form of `helm package`; reproducible.
  chart: ({ folder, version }) => {
    const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
    const archive = join(folder, `switchyard-chart-${version}.tgz`);
    return run('tar', [...same, '-czf', archive, '-C', inRoot('docker/helm'), 'switchyard']);
  },
  // With --omit=dev npm 11 leaves out packages that development uses, too, such as @nestjs/core.
  SBOM: async ({ folder, version }) => {
    const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
    const { components, dependencies, ...bom } = JSON.parse(await run('npm', args));
    const isShipped = ({ properties = [] }) =>
      !properties.some(({ name }) => name === 'cdx:npm:package:development');
    const shipped = components.filter(isShipped);
    const refs = new Set([bom.metadata.component, ...shipped].map(each => each['bom-ref']));
    const links = dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(on => refs.has(on)) }));
    const text = JSON.stringify({ ...bom, components: shipped, dependencies: links }, null, 2);
    writeFileSync(join(folder, `switchyard-${version}.cdx.json`), `${text}\n`);
  },
  images: async ({ folder }) => {
    const { code } = await command(
      process.execPath,
      [inRoot('scripts/images.mjs'), '--save', folder],
      { show: true },
    );
    if (code !== 0) throw new SetupError('the images were not made; without them: --no-images');
  },
};

async function checksums({ folder }) {
  const lines = [];
  for (const name of readdirSync(folder).sort())
    lines.push(`${await sha256(join(folder, name))}  ${name}`);
  writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`);
}

async function sha256(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** What nobody but a person does. */
const remaining = (version, folder) => `
To publish, a person with the rights does this, once the tree is tagged (npm run release -- --tag):
  git push origin v${version}      starts .github/workflows/release.yaml: npm package, images and chart
or by hand, from ${folder}:
  npm publish switchyard-gateway-${version}.tgz --access public
  helm push switchyard-chart-${version}.tgz oci://REGISTRY/charts
  skopeo copy oci-archive:switchyard-gateway-${version}.tar docker://REGISTRY/switchyard-gateway:${version}   # and cpu, speech
Before the first time: on the npm registry name release.yaml as trusted publisher of switchyard-gateway; in the
repository's settings set the variable REGISTRY (ghcr.io/OWNER, say). The image cuda is built by the workflow only.`;

if (import.meta.filename === process.argv[1]) {
  await runMain(async () => {
    const { values } = parseArgs({
      allowNegative: true,
      options: {
        tag: { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        images: { type: 'boolean', default: true },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help) return void console.log(HELP);
    if (values.tag && values['dry-run']) throw new SetupError('give --tag or --dry-run, not both');
    const { version } = JSON.parse(read('package.json'));
    const notes = changelogSection(read('CHANGELOG.md'), version);
    const problems = await problemsOf(version);
    if (problems.length > 0 && !values['dry-run']) throw new SetupError(problems.join('\n'));
    for (const problem of problems) warn(`a release would be refused: ${problem}`);
    const folder = inRoot('release', version);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'RELEASE_NOTES.md'), `${notes}\n`);
    const { images, ...parts } = PARTS;
    if (!values.images) warn('left out: images (--no-images)');
    const made = { ...(values.images && { images }), ...parts };
    for (const [name, make] of Object.entries({ ...made, checksums })) {
      await make({ folder, version });
      done(name);
    }
    if (values.tag)
      await git('tag', '--annotate', `v${version}`, '--message', `Switchyard ${version}`);
    say(remaining(version, folder));
    console.log(folder);
  });
}
