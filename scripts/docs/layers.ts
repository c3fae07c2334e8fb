import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

export const LAYERS_PICTURE = 'docs/images/layers.svg';
const BOX_PX = 30;
const ROW_PX = 44;
const WIDTH_PX = 1160;
const COLOURS: readonly (readonly [prefix: string, fill: string])[] = [
  ['src/gateway/', '#dbeafe'],
  ['packages/', '#fef3c7'],
  ['src/core', '#dcfce7'],
  ['', '#e2e8f0'],
];

/** The folders of the product as floors: each imports only from floors below it. */
export function layersSvg(): string {
  const rows = floors().map((folders, at) => row(folders, at * ROW_PX + 8));
  const height = rows.length * ROW_PX + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH_PX} ${height}" font-family="sans-serif" font-size="12" text-anchor="middle">
<title>Folders of the source; each row imports only from rows below it</title>
<rect width="${WIDTH_PX}" height="${height}" fill="white"/>
${rows.join('\n')}
</svg>
`;
}

function row(folders: readonly string[], y: number): string {
  const widths = folders.map(folder => folder.length * 7 + 18);
  let x = (WIDTH_PX - widths.reduce((sum, width) => sum + width + 8, -8)) / 2;
  return folders
    .map((folder, at) => {
      const width = widths[at] ?? 0;
      const fill = COLOURS.find(([prefix]) => folder.startsWith(prefix))?.[1];
      const box = `<rect x="${x}" y="${y}" width="${width}" height="${BOX_PX}" rx="5" fill="${fill}" stroke="#94a3b8"/>`;
      const text = `<text x="${x + width / 2}" y="${y + 19}">${folder.replace('src/', '')}</text>`;
      x += width + 8;
      return box + text;
    })
    .join('');
}

/** Highest first: a folder stands one floor above the highest that it imports. */
function floors(): string[][] {
  const imports = importsOfFolders();
  const heights = new Map<string, number>();
  const heightOf = (folder: string): number => {
    const known = heights.get(folder);
    if (known !== undefined) return known;
    const below = [...(imports.get(folder) ?? [])].map(heightOf);
    const height = Math.max(-1, ...below) + 1;
    heights.set(folder, height);
    return height;
  };
  const rows: string[][] = [];
  for (const folder of [...imports.keys()].sort()) (rows[heightOf(folder)] ??= []).push(folder);
  return rows.reverse();
}

function importsOfFolders(): Map<string, Set<string>> {
  const listed = execFileSync('git', ['ls-files', 'src', 'packages'], {
    encoding: 'utf8',
  });
  const imports = new Map<string, Set<string>>();
  for (const file of listed.split('\n')) {
    const own = folderOf(file);
    if (own === undefined || !/(?<!\.spec)\.ts$/.test(file)) continue;
    const others = imports.get(own) ?? new Set();
    imports.set(own, others);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/ from '([.@][^']+)'/g)) {
      const other = folderOf(resolved(file, path));
      if (other !== undefined && other !== own) others.add(other);
    }
  }
  return imports;
}

const resolved = (file: string, path: string): string =>
  path.startsWith('.')
    ? posix.join(posix.dirname(file), path)
    : path.replace('@switchyard/', 'packages/');

/** Undefined for mains and for what is no part of the product. */
function folderOf(file: string): string | undefined {
  const parts = file.split('/');
  const depth = parts[1] === 'gateway' ? 3 : 2;
  const isProduct = parts[0] === 'src' || parts[0] === 'packages';
  return isProduct && parts.length > depth ? parts.slice(0, depth).join('/') : undefined;
}
