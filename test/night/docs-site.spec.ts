import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const SITE = 'docs/site/dist';

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith(ending));

/** What the browser loads by itself, and where links of a page lead. */
const references = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, url = '']) => url);
const LOADED =
  /<(?:script|img|source)\b[^>]*\bsrc="([^"]+)"|<link\b(?![^>]*rel="canonical")[^>]*\bhref="([^"]+)"/g;

describe('the manual as a static site', () => {
  let pages: string[];

  beforeAll(async () => {
    await run(process.execPath, ['scripts/docs-site.mjs'], { maxBuffer: 1e7 });
    pages = filesIn(SITE, '.html').filter(name => name !== '404.html');
  }, 600_000);

  it('has every page of docs', () => {
    const written = filesIn('docs', '.md').filter(name => !name.startsWith('site/'));
    expect(pages.map(name => name.replace(/\.html$/, '.md')).sort()).toEqual(written.sort());
  });

  it('loads nothing from other hosts', () => {
    for (const page of pages) {
      const urls = [...readFileSync(join(SITE, page), 'utf8').matchAll(LOADED)].map(
        ([, src, href]) => src ?? href ?? '',
      );
      expect(urls.filter(url => /^(https?:)?\/\//.test(url))).toEqual([]);
    }
  });

  it('links only pages that exist', () => {
    const dead = pages.flatMap(page =>
      references(readFileSync(join(SITE, page), 'utf8'), /<a\b[^>]*\bhref="([^"#]+)[^"]*"/g)
        .filter(url => !/^[a-z]+:/.test(url))
        .filter(
          url =>
            !existsSync(url.startsWith('/') ? join(SITE, url) : join(SITE, dirname(page), url)),
        )
        .map(url => `${page}: ${url}`),
    );
    expect(dead).toEqual([]);
  });

  it('has an index for its search', () => {
    const index = filesIn(join(SITE, 'assets'), '.js').find(name =>
      name.includes('localSearchIndex'),
    );
    expect(readFileSync(join(SITE, 'assets', index ?? ''), 'utf8')).toContain('overdraft');
  });
});
