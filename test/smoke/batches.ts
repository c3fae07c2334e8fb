import OpenAI, { toFile } from 'openai';
import { until } from '../support/waiting.js';

/** A batch of chats, each of which answers its word. */
export async function chatBatch(openai: OpenAI, words: readonly string[]): Promise<OpenAI.Batch> {
  const lines = words.map((content, at) => ({
    ...{ custom_id: `line-${at}`, method: 'POST', url: '/v1/chat/completions' },
    body: { model: 'llm', max_tokens: 1, messages: [{ role: 'user', content }] },
  }));
  const file = await openai.files.create({
    purpose: 'batch',
    file: await toFile(Buffer.from(lines.map(line => JSON.stringify(line)).join('\n')), 'in.jsonl'),
  });
  return openai.batches.create({
    ...{ completion_window: '24h', endpoint: '/v1/chat/completions', input_file_id: file.id },
  });
}

interface OutputLine {
  readonly custom_id: string;
  readonly response: { readonly body: OpenAI.ChatCompletion };
}

/** @returns the batch when it has ended, and what each line was answered, in their order */
export async function completedBatch(
  openai: OpenAI,
  id: string,
): Promise<{ readonly batch: OpenAI.Batch; readonly answers: readonly string[] }> {
  let batch = await openai.batches.retrieve(id);
  await until(async () => {
    batch = await openai.batches.retrieve(id);
    return ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status);
  });
  const output = await (await openai.files.content(batch.output_file_id!)).text();
  const lines = output.trim().split('\n');
  const answers = lines
    .map(line => JSON.parse(line) as OutputLine)
    .sort((a, b) => a.custom_id.localeCompare(b.custom_id, 'en', { numeric: true }))
    .map(({ response }) => response.body.choices[0]!.message.content!.trim());
  return { batch, answers };
}
