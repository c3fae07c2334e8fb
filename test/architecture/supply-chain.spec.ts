import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}
const packagesIn = (lock: string): [string, LockEntry][] =>
  Object.entries(
    (JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, LockEntry> }).packages,
  ).filter(([place]) => place.startsWith('node_modules/') || place.includes('/node_modules/'));

describe.each(['package-lock.json', 'console/package-lock.json'])('%s', lock => {
  it('has the integrity of every package, those of other platforms included', () => {
    const unverified = packagesIn(lock).filter(([, { integrity, link }]) => !integrity && !link);
    expect(unverified.map(([place]) => place)).toEqual([]);
  });

  it('names no registry', () => {
    expect(readFileSync(lock, 'utf8')).not.toMatch(/"resolved": "https?:/);
  });
});

describe('npm packages', () => {
  it('run no script when they are installed: npm is told so, and all work without', () => {
    expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
    // Builds of optional helpers, and a check of versions: the prebuilt binaries are packages.
    const running = packagesIn('package-lock.json').filter(
      ([, { hasInstallScript, dev }]) => hasInstallScript && !dev,
    );
    expect(running.map(([place]) => place.replace('node_modules/', ''))).toEqual([
      'koffi',
      'msgpackr-extract',
      'protobufjs',
    ]);
  });

  it('ask for versions of one another: none takes any', () => {
    const own = readdirSync('packages').map(name => `packages/${name}/package.json`);
    const asked = own.map(file => {
      const { dependencies, peerDependencies } = JSON.parse(readFileSync(file, 'utf8')) as Record<
        'dependencies' | 'peerDependencies',
        Record<string, string> | undefined
      >;
      return { ...dependencies, ...peerDependencies };
    });
    expect(asked.flatMap(Object.values)).not.toContain('*');
  });

  it('bring no telemetry: a workspace stands for the one of swagger-ui-dist', () => {
    const packages = new Map(packagesIn('package-lock.json'));
    expect(packages.get('node_modules/@scarf/scarf')).toEqual({
      resolved: 'packages/no-telemetry',
      link: true,
    });
    const { name, version } = JSON.parse(
      readFileSync('packages/no-telemetry/package.json', 'utf8'),
    ) as { name: string; version: string };
    const wanted = packages.get('node_modules/swagger-ui-dist')?.dependencies;
    expect(wanted).toEqual({ [name]: `=${version}` });
    expect(readdirSync('node_modules/@scarf/scarf').sort()).toEqual(['README.md', 'package.json']);
  });
});

describe('workers/python/requirements', () => {
  const folder = 'workers/python/requirements';
  // uv writes a name and its version, then one hash in each line.
  const PINNED = /^[\w.-]+==[\w.]+(?: \\\n {4}--hash=sha256:[0-9a-f]{64})+$/;

  it.each(readdirSync(folder))(
    '%s has a version and the hashes of its wheels in each entry',
    file => {
      const entries = readFileSync(`${folder}/${file}`, 'utf8')
        .trim()
        .split(/\n(?=\S)/);
      expect(entries.length).toBeGreaterThan(1);
      expect(entries.filter(entry => !PINNED.test(entry))).toEqual([]);
    },
  );
});
