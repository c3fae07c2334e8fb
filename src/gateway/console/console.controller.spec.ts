import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type FastifyReply } from 'fastify';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { ConsoleController } from './console.controller.js';

const PAGE = '<!doctype html><title>Console</title>';
const SCRIPT = 'console.log(1)';

/** What a reply of Fastify was given. */
function replyTo(accepts?: string) {
  const sent = { headers: {} as Record<string, string>, type: '', body: Buffer.alloc(0) };
  const reply = {
    request: { headers: { 'accept-encoding': accepts } },
    headers: (more: Record<string, string>) => (Object.assign(sent.headers, more), reply),
    header: (name: string, value: string) => ((sent.headers[name] = value), reply),
    type: (type: string) => ((sent.type = type), reply),
    send: (body: Buffer<ArrayBuffer>) => ((sent.body = body), reply),
  };
  return { sent, reply: reply as unknown as FastifyReply };
}

describe('the files of the console', () => {
  let folder = '';
  let console: ConsoleController;

  function build(): void {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), PAGE);
    writeFileSync(join(folder, 'assets/index-1a2b.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/index-1a2b.js.map'), '{}');
  }

  beforeEach(() => {
    folder = temporaryFolder();
    console = new ConsoleController(folder);
  });

  it('are the same page for every view, asked for again each time', () => {
    build();
    for (const view of ['index', 'view', 'detail'] as const) {
      const { sent, reply } = replyTo();
      console[view](reply);
      expect([sent.body.toString(), sent.type]).toEqual([PAGE, 'text/html; charset=utf-8']);
      expect(sent.headers['cache-control']).toBe('no-cache');
    }
  });

  it('load nothing from elsewhere, and are shown in no other page', () => {
    const { sent, reply } = replyTo();
    console.index(reply);
    const policy = sent.headers['content-security-policy']?.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(policy?.join()).not.toMatch(/unsafe|\*|http/);
    expect(sent.headers['x-content-type-options']).toBe('nosniff');
  });

  it('are compressed for those who accept it, and caches know', () => {
    build();
    const [plain, gzip] = [replyTo('br'), replyTo('deflate, gzip')];
    for (const { reply } of [plain, gzip]) console.asset('index-1a2b.js', reply);
    expect(plain.sent.headers).not.toHaveProperty('content-encoding');
    expect(plain.sent.body.toString()).toBe(SCRIPT);
    expect(gzip.sent.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(gunzipSync(gzip.sent.body).toString()).toBe(SCRIPT);
    expect(gzip.sent.type).toBe('text/javascript; charset=utf-8');
  });

  it('are scripts, styles and pictures; any other is unknown', () => {
    build();
    for (const name of ['index.js', 'index-1a2b.js.map', '../index.html'])
      expect(() => console.asset(name, replyTo().reply)).toThrow(`The console has no file ${name}`);
  });

  it('that are built later are found at the next request', () => {
    const [before, after] = [replyTo(), replyTo()];
    console.index(before.reply);
    expect(() => console.asset('index-1a2b.js', replyTo().reply)).toThrow('no file');
    build();
    console.index(after.reply);
    console.asset('index-1a2b.js', replyTo().reply);
    expect(before.sent.body.toString()).toContain('npm run console:build');
    expect(after.sent.body.toString()).toBe(PAGE);
  });
});
