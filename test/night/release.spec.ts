import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const LIMIT_MS = 600_000;
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('npm run release -- --dry-run', () => {
  it(
    'makes package, chart, notes, SBOM and checksums into one folder, and changes nothing in git',
    () => {
      const before = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' });
      const flags = ['--dry-run', '--no-images'];
      const output = execFileSync(process.execPath, ['scripts/release.mjs', ...flags], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const folder = output.trim().split('\n').at(-1)!;
      expect(readdirSync(folder).sort()).toEqual([
        'RELEASE_NOTES.md',
        'SHA256SUMS',
        `switchyard-${version}.cdx.json`,
        `switchyard-chart-${version}.tgz`,
        `switchyard-gateway-${version}.tgz`,
      ]);
      execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
        cwd: folder,
        stdio: 'ignore',
      });
      const bom = JSON.parse(
        readFileSync(join(folder, `switchyard-${version}.cdx.json`), 'utf8'),
      ) as {
        bomFormat: string;
        components: { name: string }[];
      };
      expect(bom.bomFormat).toBe('CycloneDX');
      const names = bom.components.map(({ name }) => name);
      expect(names).toContain('@nestjs/core');
      expect(names).not.toContain('jest');
      const chart = ['-xzOf', `switchyard-chart-${version}.tgz`, 'switchyard/Chart.yaml'];
      expect(execFileSync('tar', chart, { cwd: folder, encoding: 'utf8' })).toContain(
        `version: ${version}`,
      );
      expect(execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' })).toBe(before);
    },
    LIMIT_MS,
  );
});
