import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig } from '../api/gateway-rig.js';
import { syntheticLlm } from '../generation/generation-rig.js';
import { CommandRun, runHere } from './command-run.js';

describe('switchyard chat', () => {
  let rig: GatewayRig;

  beforeAll(async () => {
    rig = await GatewayRig.start({
      models: [syntheticLlm({ tokens: 4 })],
      launch: 'hosted',
    });
  });
  afterAll(() => rig.close());

  const run = (args: readonly string[], input = '') =>
    input === ''
      ? runHere(['chat', ...args, '--url', rig.url])
      : new CommandRun(['chat', ...args, '--url', rig.url], {}, input).ended;

  it('answers one question on stdout with the first model that chats, and reports timings separately', async () => {
    const { code, stdout, stderr } = await run(['all lines are clear', '--timings']);
    expect([code, stdout]).toEqual([0, 'all lines are clear\n']);
    expect(stderr).toMatch(/first token [\d.]+ ms, .*total [\d.]+ ms, 4 \+ 4 tokens/s);
  });

  it('takes the question from stdin, and as many tokens as are wanted', async () => {
    expect(await run(['-', '--max-tokens', '2'], 'all lines are clear')).toMatchObject({
      code: 0,
      stdout: 'all lines\n',
    });
  });

  it('is a conversation without a question: a line each, until /exit', async () => {
    const { code, stdout } = await run(
      [],
      'one two three four\n/clear\nfive six seven eight\n/exit\nnever asked\n',
    );
    expect([code, stdout]).toEqual([0, 'one two three four\nfive six seven eight\n']);
  });

  it('continues a conversation after a refusal, and ends with 5 as one question does', async () => {
    const refused = await run(['hi', '--model', 'nobody']);
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringContaining('[model_not_found]'),
    ]);
    const talk = await run(['--model', 'nobody'], 'hi\nho\n/exit\n');
    expect([talk.code, talk.stderr.split('[model_not_found]').length - 1]).toEqual([5, 2]);
  });

  it('is compared with another server by `models verify --beside`', async () => {
    const args = ['models', 'verify', 'synthetic-llm', '--json', '--url', rig.url];
    const { code, stdout } = await runHere([...args, '--beside', rig.url]);
    expect(code).toBe(0);
    const { accuracy, beside } = JSON.parse(stdout) as Record<string, string>;
    expect(accuracy).toMatch(/^0 of 5 questions; (\d+) of \1 words as \1 beside$/);
    expect(beside).toMatchObject({ engine: rig.url, accuracy: '0 of 5 questions' });
  });

  it('teaches by --help', async () => {
    const { code, stdout } = await run(['--help']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\/clear.*--system.*Ctrl-C/s)]);
  });
});
