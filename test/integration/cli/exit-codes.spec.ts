import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND_LINE, helpOf, leafCommands } from '../../../scripts/docs/command-tree.js';
import { freePort } from '../../support/free-port.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CommandRun, runHere } from './command-run.js';

interface Row {
  /** Valid arguments. */
  readonly args: readonly string[];
  /** Arguments of the right form with a value that is not allowed. */
  readonly wrong: readonly string[];
}

/** Commands that talk to a gateway. */
const REMOTE: Readonly<Record<string, Row>> = {
  transcribe: { args: ['audio.wav'], wrong: ['audio.wav', '--temperature', 'warm'] },
  speak: { args: ['hello', '-o', '-'], wrong: ['hello', '--speed', '5'] },
  chat: { args: ['hello', '-m', 'm'], wrong: ['hello', '--max-tokens', '0'] },
  'models verify': { args: ['m'], wrong: ['m', '--text', 'words'] },
  status: { args: [], wrong: ['--limit', '1'] },
  top: { args: [], wrong: ['--interval', '0'] },
  bench: { args: ['m'], wrong: ['m', '--callers', '0'] },
  listen: { args: ['audio.wav', '--raw', '16000'], wrong: ['none.wav'] },
  logs: { args: [], wrong: ['--level', 'loud'] },
  'workers logs': { args: ['w-0'], wrong: ['w-0', '--lines', '0'] },
  'workers drain': { args: ['w-0'], wrong: [] },
  'workers resume': { args: ['w-0'], wrong: [] },
  'workers restart': { args: ['w-0'], wrong: [] },
  'keys create': {
    args: ['--tenant', 'a'],
    wrong: ['--tenant', 'a', '--scope', 'root'],
  },
  'keys set': { args: ['key_1', '--no-limits'], wrong: ['key_1', '--limit', 'wishes=3'] },
  'keys list': { args: [], wrong: ['--limit', '1'] },
  tenants: { args: [], wrong: ['--day', '1'] },
  usage: { args: [], wrong: ['--limit', '1'] },
  'keys revoke': { args: ['key_1'], wrong: [] },
  'keys rotate': { args: ['key_1'], wrong: ['key_1', '--grace', '-1'] },
  queue: { args: [], wrong: ['--limit', '1'] },
  why: { args: ['req_1'], wrong: ['req_1', 'req_2'] },
  'requests list': { args: [], wrong: ['--state', 'lost'] },
  'requests show': { args: ['req_1'], wrong: [] },
  'requests cancel': { args: ['req_1'], wrong: [] },
  'requests priority': { args: ['req_1', 'realtime'], wrong: ['req_1', 'urgent'] },
  'workers list': { args: [], wrong: ['--limit', '1'] },
  'batch submit': { args: ['lines.jsonl'], wrong: ['lines.jsonl', '--metadata', 'x'] },
  'batch list': { args: [], wrong: ['--limit', '101'] },
  'batch get': { args: ['batch_1'], wrong: ['batch_1', '--url', 'nonsense'] },
  'batch watch': { args: ['batch_1'], wrong: ['batch_1', '--key-file', 'none'] },
  'batch download': { args: ['batch_1'], wrong: [] },
  'batch cancel': { args: ['batch_1'], wrong: [] },
  'batch retry-failed': { args: ['batch_1'], wrong: [] },
};

/**
 * Commands that work on this machine. `models list` shows what is on disk when
 * no gateway answers.
 */
const LOCAL: Readonly<Record<string, Row>> = {
  'support-bundle': { args: [], wrong: ['-o', 'none/bundle.tar.gz'] },
  backup: { args: [], wrong: ['none/backup.tar'] },
  restore: { args: [], wrong: ['none.tar'] },
  init: { args: [], wrong: ['.'] },
  up: { args: [], wrong: ['--port', '0'] },
  completion: { args: ['bash'], wrong: ['tcsh'] },
  'models search': { args: [], wrong: ['--kind', 'sst'] },
  'models add': { args: [], wrong: ['no-such-model', '--yes'] },
  'models starter': { args: [], wrong: ['no-such-model', '--yes'] },
  'models list': { args: [], wrong: ['--limit', '1'] },
  'models pull': { args: [], wrong: ['ftp://x/y'] },
  'models remove': { args: [], wrong: ['..', '--yes'] },
  'models check': { args: [], wrong: ['none.yaml'] },
  doctor: { args: [], wrong: ['--fix'] },
  'engines list': { args: [], wrong: ['--limit', '1'] },
  'engines install': { args: [], wrong: ['openai-http'] },
  'gpu check': { args: [], wrong: ['--fix'] },
  'gpu install': { args: [], wrong: ['cuda'] },
  'config check': { args: [], wrong: ['--yaml'] },
  'config print': { args: [], wrong: ['--yaml'] },
  'config show': { args: [], wrong: ['--yaml'] },
  'config schema': { args: [], wrong: ['--yaml'] },
  'worker run': { args: [], wrong: ['--model', 'none'] },
  'worker check': { args: [], wrong: ['127.0.0.1'] },
};

const ENVELOPE = {
  error: {
    message: 'Not with this key.',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  },
};
const ANSWER = { choices: [{ delta: { content: '{"fruit": 3}' } }] };
const EMPTY_PAGE = { object: 'list', data: [], has_more: false };

describe('every command', () => {
  let folder: string;
  let refusing: Server;
  let answering: Server;
  let nobody: string;
  const before = { ...process.env };

  beforeAll(async () => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'audio.wav'), 'RIFF');
    writeFileSync(join(folder, 'lines.jsonl'), '{"url":"/v1/embeddings"}\n');
    writeFileSync(
      join(folder, 'models.yaml'),
      'models:\n  - { id: asr, kind: stt, engine: synthetic, capabilities: [transcribe] }\n',
    );
    refusing = createServer((request, response) => {
      request.resume();
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(ENVELOPE));
    });
    answering = createServer((request, response) => {
      request.resume();
      if (request.url !== '/v1/chat/completions')
        return void response.end(JSON.stringify(EMPTY_PAGE));
      response.end(`data: ${JSON.stringify(ANSWER)}\n\ndata: [DONE]\n\n`);
    });
    for (const server of [refusing, answering]) {
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    }
    nobody = `http://127.0.0.1:${await freePort()}`;
    Object.assign(process.env, {
      INIT_CWD: folder,
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      SWITCHYARD_HUB_MODELS_DIR: join(folder, 'store'),
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
      SWITCHYARD_SERVER_PORT: new URL(nobody).port,
    });
  });
  afterAll(() => {
    process.env = before;
    for (const server of [refusing, answering]) server.close().closeAllConnections();
  });

  const run = (command: string, args: readonly string[]) =>
    runHere([...command.split(' '), ...args]);
  const piped = (args: readonly string[], input: string) => new CommandRun(args, {}, input).ended;
  const urlOf = (server: Server): string =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('has a row here', () => {
    const names = leafCommands(COMMAND_LINE).map(({ words }) => words);
    expect(names.sort()).toEqual([...Object.keys(REMOTE), ...Object.keys(LOCAL)].sort());
  });

  it.each(leafCommands(COMMAND_LINE).map(({ words, command }) => [words, command] as const))(
    '%s has a description and an example',
    (words, command) => {
      expect(command.description()).toMatch(/\w{3}/);
      expect(helpOf(command)).toMatch(
        new RegExp(`^Examples:\\n(  .*\\n)*  .*switchyard ${words}`, 'm'),
      );
    },
  );

  it.each(Object.entries({ ...REMOTE, ...LOCAL }))(
    '%s ends with 2 for wrong usage, on stderr',
    async (name, row) => {
      const { code, ...texts } = await run(
        name,
        row.wrong.length > 0 ? row.wrong : ['--no-such-option'],
      );
      expect({ code, ...texts }).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/\S/),
      });
      expect(texts.stderr).not.toContain('    at ');
    },
  );

  it.each(Object.entries(REMOTE))(
    '%s ends with 3 when no gateway answers',
    async (name, { args }) => {
      const { code, ...texts } = await run(name, [...args, '--url', nobody]);
      expect({ code, stdout: texts.stdout }).toEqual({ code: 3, stdout: '' });
      expect(texts.stderr).toContain(`✗ no gateway answers at ${nobody} (ECONNREFUSED)`);
    },
  );

  it.each(Object.entries(REMOTE))(
    '%s ends with 4 when the gateway denies it, with its message',
    async (name, { args }) => {
      const { code, ...texts } = await run(name, [...args, '--url', urlOf(refusing)]);
      expect({ code, stdout: texts.stdout }).toEqual({ code: 4, stdout: '' });
      expect(texts.stderr).toContain('✗ Not with this key. [invalid_api_key] (401)');
    },
  );

  it.each([
    ['models list', []],
    ['models check', []],
    ['doctor', []],
    ['init', ['mine']],
    ['models search', []],
    ['engines list', []],
    ['engines install', ['sherpa-onnx']],
    ['gpu check', []],
    ['gpu install', ['--dry-run']],
    ['config check', []],
    ['config print', []],
    ['batch list', []],
    ['chat', ['three fruits', '-m', 'm']],
  ])('%s --json prints one JSON document on stdout', async (name, args) => {
    const remote = name in REMOTE ? ['--url', urlOf(answering)] : [];
    const { code, ...texts } = await run(name, [...args, '--json', ...remote]);
    // These judge this machine, which may lack a library, its port or a GPU.
    expect(['doctor', 'gpu check'].includes(name) ? [0, 1] : [0]).toContain(code);
    expect(JSON.parse(texts.stdout)).toEqual(expect.anything());
  });

  it('has --json where it has an answer', () => {
    const without = leafCommands(COMMAND_LINE).filter(({ command }) =>
      command.options.every(({ long }) => long !== '--json'),
    );
    expect(without.map(({ words }) => words)).toEqual([
      'up',
      'models starter',
      'config show',
      'config schema',
      'worker run',
      'completion',
    ]);
  });

  it('chat with questions from a pipe ends with the code of a question that failed', async () => {
    expect((await piped(['chat', '-m', 'm', '--url', nobody], 'one?\ntwo?\n')).code).toBe(3);
    expect((await piped(['chat', '-m', 'm', '--url', urlOf(answering)], 'one?\n')).code).toBe(0);
  });

  it.each([
    ['transcribe', ['audio.wav', '--json', '--format', 'srt'], 'json, verbose_json, diarized_json'],
    ['speak', ['hello', '--json', '-o', '-'], 'both go to stdout'],
  ])('%s refuses --json where the answer is none: 2', async (name, args, message) => {
    const { code, ...texts } = await run(name, [...args, '--url', nobody]);
    expect([code, texts.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    ['transcribe', ['audio.wav', '-o', 'none/text.txt']],
    ['speak', ['hello', '-o', 'none/speech.mp3']],
  ])('%s checks its output file before the gateway is asked', async (name, args) => {
    const { code, ...texts } = await run(name, [...args, '--url', urlOf(refusing)]);
    expect([code, texts.stderr]).toEqual([2, expect.stringContaining('cannot be written')]);
  });
});
