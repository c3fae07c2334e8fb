import { expect } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { openaiAt } from '../../support/openai-at.js';
import { pause } from '../../support/waiting.js';

const ENDED = ['completed', 'failed', 'expired', 'cancelled'];
const LINES = 6;

type Batch = OpenAI.Batches.Batch;

/**
 * What an application does with the official SDK, unchanged: upload, create, poll,
 * download, paginate, cancel, delete.
 */
export class SdkRoundTrip {
  readonly client: OpenAI;

  constructor(baseURL: string, apiKey = 'unused') {
    this.client = openaiAt(baseURL, { apiKey });
  }

  /**
   * Recordings as lines of a batch; each is to be answered as it is when it comes alone.
   */
  async run(): Promise<void> {
    const input = await this.#inputFile();
    const created = await this.create(input.id);
    expect(created).toMatchObject({
      object: 'batch',
      status: 'validating',
      input_file_id: input.id,
    });
    const ended = await this.untilEnd(created.id);
    expect(ended).toMatchObject({
      status: 'completed',
      model: 'synthetic',
      metadata: { night: 'first' },
    });
    expect(ended.request_counts).toEqual({
      total: LINES + 1,
      completed: LINES,
      failed: 1,
    });
    await this.#checkResults(ended);
    await this.#paginate(ended);
    await this.#cancel(input.id);
    expect(await this.client.files.delete(input.id)).toEqual({
      id: input.id,
      object: 'file',
      deleted: true,
    });
  }

  create(input: string, window = '24h'): Promise<Batch> {
    return this.client.batches.create({
      input_file_id: input,
      // The types know OpenAI's own endpoints and window only.
      endpoint: '/v1/audio/transcriptions' as '/v1/embeddings',
      completion_window: window as '24h',
      metadata: { night: 'first' },
    });
  }

  async untilEnd(id: string): Promise<Batch> {
    for (;;) {
      const batch = await this.client.batches.retrieve(id);
      if (ENDED.includes(batch.status)) return batch;
      await pause(50);
    }
  }

  async #inputFile(): Promise<OpenAI.Files.FileObject> {
    const lines: string[] = [];
    for (let index = 0; index < LINES; index++) {
      const audio = await this.client.files.create({
        file: await recording(index),
        purpose: 'user_data',
      });
      lines.push(line(`line-${index}`, { model: 'synthetic', file_id: audio.id }));
    }
    lines.push(line('nobody', { model: 'synthetic', file_id: 'file-nobody' }));
    const file = await toFile(Buffer.from(lines.join('\n')), 'night.jsonl');
    const input = await this.client.files.create({ file, purpose: 'batch' });
    expect(await this.client.files.retrieve(input.id)).toEqual(input);
    return input;
  }

  async #checkResults({ output_file_id: output, error_file_id: errors }: Batch): Promise<void> {
    const answered = await this.#lines(output!);
    const texts = new Map(answered.map(({ custom_id: id, response }) => [id, response.body.text]));
    expect(texts.size).toBe(LINES);
    for (let index = 0; index < LINES; index++) {
      const alone = this.client.audio.transcriptions.create({
        model: 'synthetic',
        file: await recording(index),
      });
      expect(texts.get(`line-${index}`)).toBe((await alone).text);
    }
    expect((await this.#lines(errors!)).map(({ custom_id: id }) => id)).toEqual(['nobody']);
  }

  async #lines(
    fileId: string,
  ): Promise<readonly { custom_id: string; response: { body: { text: string } } }[]> {
    const text = await (await this.client.files.content(fileId)).text();
    return text
      .trim()
      .split('\n')
      .map(
        entry =>
          JSON.parse(entry) as {
            custom_id: string;
            response: { body: { text: string } };
          },
      );
  }

  async #paginate(ended: Batch): Promise<void> {
    const ids: string[] = [];
    for await (const { id } of this.client.batches.list({ limit: 1 })) ids.push(id);
    expect(ids).toContain(ended.id);
    const files: string[] = [];
    for await (const { id } of this.client.files.list({ limit: 2 })) files.push(id);
    expect(files).toHaveLength(LINES + 3);
    expect(new Set(files).size).toBe(files.length);
  }

  async #cancel(input: string): Promise<void> {
    const { id } = await this.create(input, '7d');
    const cancelling = await this.client.batches.cancel(id).catch((error: unknown) => error);
    // Six short lines may all be done before the cancel comes.
    if (cancelling instanceof OpenAI.BadRequestError)
      expect(cancelling.code).toBe('batch_not_cancellable');
    else expect(cancelling).toMatchObject({ id, status: 'cancelling' });
    expect(['cancelled', 'completed']).toContain((await this.untilEnd(id)).status);
  }
}

const line = (customId: string, body: object): string =>
  JSON.stringify({
    custom_id: customId,
    method: 'POST',
    url: '/v1/audio/transcriptions',
    body,
  });

const recording = (index: number) => toFile(Buffer.from(`recording ${index}`), `clip-${index}.wav`);
