import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { sttModel, ttsModel } from '../api/models.js';
import { CommandRun, runHere } from './command-run.js';

describe('switchyard transcribe and speak', () => {
  let rig: GatewayRig;
  let folder: string;

  beforeAll(async () => {
    folder = temporaryFolder();
    rig = await GatewayRig.start({
      models: [
        sttModel({ replicas: 1 }),
        ttsModel({ replicas: 1, voices: { alloy: 'synthetic' } }),
      ],
      launch: 'hosted',
    });
    await Promise.all([rig.ready('stt'), rig.ready('tts')]);
  });
  afterAll(() => rig.close());

  const run = (...args: string[]) => runHere([...args, '--url', rig.url], { INIT_CWD: folder });

  it('speak writes a file of the format that its name says; transcribe streams its text, progress apart', async () => {
    const spoken = await run('speak', 'mind the gap', '-o', 'gap.wav');
    expect(spoken).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('gap.wav'),
    });
    expect(readFileSync(join(folder, 'gap.wav')).subarray(0, 4).toString()).toBe('RIFF');
    const { code, stdout, stderr } = await run('transcribe', 'gap.wav', '--timings');
    expect([code, stdout.trim().length > 0, stderr]).toEqual([
      0,
      true,
      expect.stringMatching(/sending\n.*total \d/s),
    ]);
    const whole = await run('transcribe', 'gap.wav', '--no-stream');
    expect(whole.stdout).toBe(stdout);
  });

  it.each([
    ['json', /^\{"text":/],
    ['verbose_json', /"segments":/],
    ['srt', /^1\n00:00:00,/],
    ['vtt', /^WEBVTT\n/],
  ])('transcribe --format %s -o', async (format, shape) => {
    await run('transcribe', 'gap.wav', '--format', format, '-o', `gap.${format}`);
    expect(readFileSync(join(folder, `gap.${format}`), 'utf8')).toMatch(shape);
  });

  it('--json prints one document on stdout: what was written, and the answer', async () => {
    const spoken = JSON.parse(
      (await run('speak', 'mind the gap', '-o', 'json.wav', '--json')).stdout,
    ) as object;
    const file = join(folder, 'json.wav');
    expect(spoken).toMatchObject({
      file,
      format: 'wav',
      bytes: readFileSync(file).length,
      voice: 'alloy',
    });
    const heard = await run('transcribe', 'json.wav', '--json');
    expect(JSON.parse(heard.stdout)).toEqual(expect.objectContaining({ text: expect.any(String) }));
    const verbose = await run('transcribe', 'json.wav', '--json', '--format', 'verbose_json');
    expect(JSON.parse(verbose.stdout)).toHaveProperty('segments');
  });

  it('speak - takes the text from stdin and gives the audio to stdout', async () => {
    const args = ['speak', '-', '-f', 'wav', '-o', '-', '--url', rig.url];
    const { code, stdout } = await new CommandRun(args, {}, 'mind the gap').ended;
    expect([code, stdout.slice(0, 4)]).toEqual([0, 'RIFF']);
  });

  it('tells what the gateway says against a request, with its id, and leaves no file: 1', async () => {
    const { code, stderr } = await run('speak', 'hi', '--voice', 'nobody', '-o', 'no.mp3');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/alloy.*\[voice_not_found\] \(400, cli-/s),
    ]);
    expect(existsSync(join(folder, 'no.mp3'))).toBe(false);
  });

  it('ends with 2 without the file, with 3 without a gateway', async () => {
    expect(await run('transcribe', 'none.wav')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    });
    const { code, stderr } = await runHere(['speak', 'hi', '--url', 'http://127.0.0.1:2']);
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('no gateway answers at http://127.0.0.1:2'),
    ]);
  });
});
