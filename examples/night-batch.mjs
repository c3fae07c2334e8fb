// A batch job of 40 lines by the Files and Batches APIs:
//   node examples/night-batch.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { toFile } from 'openai';
import { openai } from './gateway.mjs';

const lines = Array.from({ length: 40 }, (_, i) => ({
  custom_id: `line-${i + 1}`,
  method: 'POST',
  url: '/v1/audio/speech',
  body: { model: 'tts-1', voice: 'alloy', input: `This is line ${i + 1}.` },
}));
const jsonl = lines.map(line => JSON.stringify(line)).join('\n');
const file = await toFile(Buffer.from(jsonl), 'lines.jsonl');
const { id: input } = await openai.files.create({ file, purpose: 'batch' });

let batch = await openai.batches.create({
  input_file_id: input,
  endpoint: '/v1/audio/speech',
  completion_window: '24h',
});
while (!['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) {
  await sleep(500);
  batch = await openai.batches.retrieve(batch.id);
  const { completed, failed, total } = batch.request_counts;
  console.log(`${batch.status.padEnd(12)} ${completed} of ${total}, ${failed} failed`);
}
const output = await openai.files.content(batch.output_file_id);
const [first] = (await output.text()).split('\n');
console.log(`first line of the output: ${first.slice(0, 160)}...`);
